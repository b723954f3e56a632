import type { GraphCommand, GraphReply, GraphState } from '@tvmlab/schema';

import type { IViewModel } from '../model';
import { Requests, type Unnumbered } from '../requests';

export type GraphRequest = Unnumbered<GraphCommand>;

/** The view's end of the protocol of graphs. */
export class GraphClient extends Requests<GraphState, GraphCommand, GraphReply> {
  constructor(model: IViewModel, onChange: () => void) {
    super(model, 'graph', onChange);
  }
}
