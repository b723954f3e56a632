import { t } from './hostPage';

/** Numbers with their nouns, each a text of its own for translators. */
export const loopsText = (count: number): string =>
  count === 1 ? t('1 loop') : t('%1 loops', count);

export const blocksText = (count: number): string =>
  count === 1 ? t('1 block') : t('%1 blocks', count);

export const buffersText = (count: number): string =>
  count === 1 ? t('1 buffer') : t('%1 buffers', count);
