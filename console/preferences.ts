/** Choices of a person in this browser: language, colors, sound, columns and views, with the searches of the views. */
import { effect, signal } from '@preact/signals';
import { storedIn } from './stored.ts';

/** The colors of the page; `system` follows the system. */
export type ColorTheme = 'system' | 'light' | 'dark';

interface Preferences {
  /** Absent if the browser's languages decide. */
  readonly language?: string;
  readonly theme?: ColorTheme;
  readonly isSilent?: boolean;
  readonly columns?: readonly string[];
  /** Named searches of devices, each as the query of its address. */
  readonly views?: readonly { readonly name: string; readonly query: string }[];
}

const STORED = 'devmgr.preferences';

/** The choices of the person. */
export const preferences = signal<Preferences>(storedIn('localStorage', STORED) ?? {});

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
