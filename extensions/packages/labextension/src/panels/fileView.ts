/* The lint rule on instances cannot follow a document type through two libraries. */
/* eslint-disable @typescript-eslint/no-unsafe-class-instance-assignment */
import { ABCWidgetFactory, type DocumentRegistry, DocumentWidget } from '@jupyterlab/docregistry';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ToolbarButton } from '@jupyterlab/ui-components';
import {
  type IExplorer,
  isRecording,
  mountExplorer,
  mountNotice,
  RecordedModel,
  t
} from '@tvmlab/views';
import { Widget } from '@lumino/widgets';

import { CommandIDs } from '../tokens';
import { tvmlabIcon } from './icon';

const FILE_TYPE = 'tvmlab-session';
/** What JupyterLab calls the factory; people see its label. */
const FACTORY = 'Schedule Session';

/** Open saved sessions with a double click: their last state, and a way to go on from there. */
export function addFileViewer(app: JupyterFrontEnd, trans: TranslationBundle): void {
  app.docRegistry.addFileType({
    name: FILE_TYPE,
    displayName: trans.__('Schedule Session'),
    extensions: ['.tvmlab.json'],
    mimeTypes: ['application/json'],
    fileFormat: 'text',
    contentType: 'file',
    icon: tvmlabIcon
  });
  app.docRegistry.addWidgetFactory(
    new SessionFileFactory(app, {
      name: FACTORY,
      label: trans.__('Schedule Session'),
      modelName: 'text',
      fileTypes: [FILE_TYPE],
      defaultFor: [FILE_TYPE],
      readOnly: true
    }) as DocumentRegistry.WidgetFactory
  );
}

/** A saved session in a tab, with the way to go on from it in its toolbar. */
class SessionDocument extends DocumentWidget<SessionFileView> {
  constructor(context: DocumentRegistry.Context, goOn: () => void) {
    super({ content: new SessionFileView(context), context });
    this.title.icon = tvmlabIcon;
    const button = new ToolbarButton({ label: t('Open in a notebook'), onClick: goOn });
    this.toolbar.addItem('go-on', button);
  }
}

class SessionFileFactory extends ABCWidgetFactory<SessionDocument> {
  constructor(app: JupyterFrontEnd, options: DocumentRegistry.IWidgetFactoryOptions) {
    super(options);
    this._app = app;
  }

  protected createNewWidget(context: DocumentRegistry.Context): SessionDocument {
    return new SessionDocument(context, () => {
      void this._app.commands.execute(CommandIDs.newNotebook, { session: context.path });
    });
  }

  private readonly _app: JupyterFrontEnd;
}

/** The last state of a saved session. */
class SessionFileView extends Widget {
  constructor(context: DocumentRegistry.Context) {
    super();
    this.addClass('tvmlab-SessionView');
    void context.ready.then(() => this._show(context.model.toString()));
  }

  override dispose(): void {
    this._view?.dispose();
    super.dispose();
  }

  private _show(text: string): void {
    const preview = previewOf(text);
    this._view = isRecording(preview)
      ? mountExplorer(new RecordedModel(preview), this.node)
      : mountNotice(
          this.node,
          t('No session'),
          t('This file is not a session that this version reads.')
        );
  }

  private _view: IExplorer | null = null;
}

function previewOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { preview?: unknown }).preview;
  } catch {
    return null;
  }
}
