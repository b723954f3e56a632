import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import { tvmlabIcon } from './panels/icon';
import { SessionView } from './panels/sessionView';
import { KernelSource } from './services/kernelSource';
import type { ISettingsReader } from './services/settings';
import { CommandIDs } from './tokens';

/** The first cell of a notebook made from the launcher: a whole small program. */
const STARTER = `# Run this cell (▶ above). Its picture is to work on by mouse: Next step proposes, Measure tells.
import tvmlab as tl
from tvmlab import te

M = N = K = 512
A = te.placeholder((M, K), name="A")
B = te.placeholder((K, N), name="B")
k = te.reduce_axis(K, "k")
C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

sch = tl.Schedule(C, name="matmul")
tl.explore(sch)`;

let tabCount = 0;

/** What the commands need from the rest of the extension. */
export interface ICommandContext {
  app: JupyterFrontEnd;
  tracker: INotebookTracker;
  panel: Widget;
  settings: ISettingsReader;
  trans: TranslationBundle;
}

export function addCommands(context: ICommandContext): void {
  const { app, tracker, panel, trans } = context;
  app.commands.addCommand(CommandIDs.openPanel, {
    label: trans.__('Show Schedule Panel'),
    caption: trans.__('Show the session of the active notebook beside it'),
    icon: tvmlabIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => app.shell.activateById(panel.id)
  });
  app.commands.addCommand(CommandIDs.openTab, {
    label: trans.__('Open Schedule in a Tab'),
    caption: trans.__("Open the active notebook's session as a tab of its own"),
    icon: tvmlabIcon,
    isEnabled: () => tracker.currentWidget !== null,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => {
      const notebook = tracker.currentWidget;
      if (notebook !== null) {
        openTab(context, notebook);
      }
    }
  });
  app.commands.addCommand(CommandIDs.newNotebook, {
    label: args =>
      args['isLauncher'] === true
        ? trans.__('Schedule Lab')
        : trans.__('New Schedule Lab Notebook'),
    caption: trans.__('A notebook with a matrix product and its explorer'),
    icon: tvmlabIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: {
          isLauncher: { type: 'boolean' },
          cwd: { type: 'string' },
          session: { type: 'string' }
        }
      }
    },
    execute: args => {
      const session = typeof args['session'] === 'string' ? args['session'] : null;
      const cwd = typeof args['cwd'] === 'string' ? args['cwd'] : '';
      return session === null
        ? newNotebook(app, cwd, STARTER)
        : newNotebook(app, folderOf(session), opening(session));
    }
  });
}

function openTab({ app, settings, trans }: ICommandContext, notebook: NotebookPanel): void {
  const view = new SessionView(KernelSource.ofNotebook(notebook), { newest: false });
  const tab = new MainAreaWidget({ content: view });
  tabCount += 1;
  tab.id = `tvmlab-tab-${tabCount}`;
  tab.title.label = trans.__('Schedule: %1', notebook.title.label.replace(/\.ipynb$/, ''));
  tab.title.caption = trans.__('The live session of %1', notebook.context.path);
  tab.title.icon = tvmlabIcon;
  tab.title.closable = true;
  app.shell.add(tab, 'main', { ref: notebook.id, mode: settings.current().tabPlacement });
  app.shell.activateById(tab.id);
}

const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/');

/** A first cell that opens a saved session. */
function opening(path: string): string {
  const name = path.split('/').at(-1) ?? path;
  return `import tvmlab as tl\n\ntl.explore(${JSON.stringify(name)})`;
}

async function newNotebook(app: JupyterFrontEnd, cwd: string, code: string): Promise<void> {
  const made: unknown = await app.commands.execute('notebook:create-new', {
    cwd,
    kernelName: 'python3'
  });
  const panel = made as NotebookPanel;
  await panel.context.ready;
  panel.content.activeCell?.model.sharedModel.setSource(code);
}
