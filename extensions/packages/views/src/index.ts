/** The views of a session: mount one into an element, hand it a model, dispose it. */
export type { Change, Connection, IViewModel } from './model';
export { type IExplorer, mountNotice } from './notice';
export { mountExplorer } from './explorer';
export { mountGraph } from './graph/graph';
export { mountSearch } from './search/search';
export { marked, publishPreferences, publishTranslation, t } from './hostPage';
export { CHOICES, type IPreferences } from './preferences';
export { type IRecording, isRecording, RecordedModel } from './recorded';
