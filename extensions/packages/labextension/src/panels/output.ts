import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime';
import { type IExplorer, isRecording, mountExplorer, RecordedModel, t } from '@tvmlab/views';
import { PanelLayout, Widget } from '@lumino/widgets';

export const RECORDING_TYPE = 'application/vnd.tvmlab.session+json';
const WIDGET_TYPE = 'application/vnd.jupyter.widget-view+json';
const LOST = /widget: model not found|Loading widget/;
/** How long a live widget may take before what was kept is shown in its place. */
const PATIENCE_MS = 2500;

/** Show the outputs of explorers also in notebooks that have no kernel, from what they keep. */
export function showRecordings(panel: NotebookPanel): void {
  const { rendermime } = panel.content;
  rendermime.addFactory(
    {
      safe: true,
      mimeTypes: [RECORDING_TYPE],
      createRenderer: options => new SessionOutput(panel, options)
    },
    -20
  );
}

/** An explorer's output: the live view if its kernel is there, else the state that was kept. */
class SessionOutput extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _options: IRenderMime.IRendererOptions
  ) {
    super();
    this.addClass('tvmlab-SessionOutput');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const { rendermime } = this._panel.content;
    const kernel = this._panel.sessionContext.session?.kernel ?? null;
    if (kernel === null || !(WIDGET_TYPE in model.data)) {
      this._showKept(model.data[RECORDING_TYPE]);
      return;
    }
    const live = rendermime.createRenderer(WIDGET_TYPE);
    const layout = new PanelLayout();
    this.layout = layout;
    layout.addWidget(live);
    this._live = live;
    await live.renderModel(model);
    setTimeout(() => {
      if (!this.isDisposed && LOST.test(live.node.textContent)) {
        this._dropLive();
        this._showKept(model.data[RECORDING_TYPE]);
      }
    }, PATIENCE_MS);
  }

  override dispose(): void {
    this._dropLive();
    this._kept?.dispose();
    super.dispose();
  }

  private _dropLive(): void {
    if (this._live !== null && !this._live.isDisposed) {
      this._live.dispose();
    }
    this._live = null;
  }

  private _showKept(data: unknown): void {
    if (isRecording(data)) {
      this._kept = mountExplorer(new RecordedModel(data), this.node);
    } else {
      this.node.textContent = t(
        'This output was made by another version (%1).',
        this._options.mimeType
      );
    }
  }

  private _live: Widget | null = null;
  private _kept: IExplorer | null = null;
}
