/** Names that the plugins, the tests and the settings share. */

export const PLUGIN_ID = 'tvmlab-lab:plugin';

/** The comm target that the Python side registers on import. */
export const COMM_TARGET = 'tvmlab.session';

export const CommandIDs = {
  openPanel: 'tvmlab:open-panel',
  openTab: 'tvmlab:open-tab',
  newNotebook: 'tvmlab:new-notebook'
} as const;
