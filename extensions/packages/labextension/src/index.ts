/**
 * The JupyterLab extension: plugins only. Panels draw, services talk to kernels, commands tie them
 * to the menu, the palette and the launcher.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { publishTranslation } from '@tvmlab/views';

import { addCommands } from './commands';
import { tvmlabIcon, tvmlabIconUrl } from './panels/icon';
import { addFileViewer } from './panels/fileView';
import { showRecordings } from './panels/output';
import { SessionView } from './panels/sessionView';
import { addStatus } from './panels/status';
import { listenForCells } from './services/cellWriter';
import { KernelSource } from './services/kernelSource';
import { loadSettings } from './services/settings';
import { CommandIDs, PLUGIN_ID } from './tokens';

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Shows the schedule session of a notebook in a panel and in tabs.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILauncher, ISettingRegistry, IStatusBar, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    registry: ISettingRegistry | null,
    statusBar: IStatusBar | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tvmlab');
    publishTranslation((text, ...values) => trans.__(text, ...values));
    const settings = loadSettings(registry);
    const panel = new SessionView(KernelSource.ofActive(tracker), { newest: true });
    panel.id = 'tvmlab-panel';
    panel.title.icon = tvmlabIcon;
    panel.title.caption = trans.__('Schedule of the active notebook');
    let placed: string | null = null;
    const place = (): void => {
      // Adding it again would close it, so only where it belongs elsewhere.
      const { side } = settings.current();
      if (side !== placed) {
        placed = side;
        app.shell.add(panel, side, { rank: 700 });
      }
    };
    place();
    settings.onChange(place);

    addCommands({ app, tracker, panel, settings, trans });
    addFileViewer(app, trans);
    listenForCells(tracker);
    tracker.widgetAdded.connect((_, notebook) => showRecordings(notebook));
    tracker.forEach(showRecordings);
    addStatus(statusBar, panel);
    for (const command of Object.values(CommandIDs)) {
      palette?.addItem({ command, category: trans.__('Schedule Lab') });
    }
    launcher?.add({
      command: CommandIDs.newNotebook,
      category: 'Notebook',
      rank: 50,
      kernelIconUrl: tvmlabIconUrl, // without one the card shows a letter
      args: { isLauncher: true }
    });
  }
};

export default plugin;
