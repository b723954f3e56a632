/** The script of an offline page: show the recording that the page carries. */
import { isRecording, mountExplorer, mountNotice, RecordedModel, t } from '@tvmlab/views';

const host = document.getElementById('tvmlab-page');
const text = document.getElementById('tvmlab-recording')?.textContent ?? 'null';
const recording: unknown = JSON.parse(text);
if (host !== null && isRecording(recording)) {
  mountExplorer(new RecordedModel(recording), host);
} else if (host !== null) {
  mountNotice(host, t('Nothing to show'), t('This page carries no recording that it understands.'));
}
