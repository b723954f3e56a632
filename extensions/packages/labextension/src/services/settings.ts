import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { publishPreferences } from '@tvmlab/views';

import { PLUGIN_ID } from '../tokens';

/** The user's choices, read once more at each use so that a change holds at once. */
export interface ISettings {
  side: 'left' | 'right';
  tabPlacement: 'split-right' | 'split-bottom' | 'tab-after';
}

const DEFAULTS: ISettings = { side: 'right', tabPlacement: 'split-right' };

export interface ISettingsReader {
  current(): ISettings;
  onChange(listener: () => void): void;
}

/** Every setting as it is now; views take those that they know. */
function all(settings: ISettingRegistry.ISettings | null): object {
  return settings?.composite ?? {};
}

/** Load the settings; without a registry (a stripped-down shell) the defaults hold. */
export function loadSettings(registry: ISettingRegistry | null): ISettingsReader {
  let settings: ISettingRegistry.ISettings | null = null;
  const listeners: (() => void)[] = [];
  const tell = (): void => {
    publishPreferences(all(settings));
    listeners.forEach(listener => listener());
  };
  registry
    ?.load(PLUGIN_ID)
    .then(loaded => {
      settings = loaded;
      loaded.changed.connect(tell);
      tell();
    })
    .catch((error: unknown) => {
      console.warn('tvmlab: settings could not be loaded, defaults are used.', error);
    });
  return {
    current: () => ({ ...DEFAULTS, ...(settings?.composite as Partial<ISettings> | undefined) }),
    onChange: listener => void listeners.push(listener)
  };
}
