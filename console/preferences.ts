/** What a person has chosen in this browser: language, colors, sound. Nothing of the registry is stored. */
import { effect, signal } from '@preact/signals';

/** The colors of the page; `system` follows the system. */
export type ColorTheme = 'system' | 'light' | 'dark';

/** What a person can choose. */
interface Preferences {
  /** Absent if the browser's languages decide. */
  readonly language?: string;
  readonly theme?: ColorTheme;
  /** Whether the bench makes no sound. */
  readonly isSilent?: boolean;
}

const STORED = 'devmgr.preferences';

/** The choices of the person. */
export const preferences = signal<Preferences>(read());

effect(() => {
  const { theme = 'system' } = preferences.value;
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
});

/** Changes some of the choices. */
export function prefer(change: Preferences): void {
  preferences.value = { ...preferences.value, ...change };
  localStorage.setItem(STORED, JSON.stringify(preferences.value));
}

function read(): Preferences {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}') as Preferences;
  } catch {
    return {};
  }
}
