/** Types of the protocol between a Session and its views; see protocol.schema.json. */
export type * from './generated';
export type * from './graph/generated';
export type * from './search/generated';
