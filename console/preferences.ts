/** Choices of a person in this browser: colors, sound, columns and views, with the searches of the views. */
import { effect, signal } from '@preact/signals';
import { storedIn } from './stored.ts';

/** The colors of the page; `system` follows the system. */
export type ColorTheme = 'system' | 'light' | 'dark';

interface Preferences {
  readonly theme?: ColorTheme;
  readonly isSilent?: boolean;
  readonly columns?: readonly string[];
  /** Named searches of devices, each as the query of its address. */
  readonly views?: readonly { readonly name: string; readonly query: string }[];
}

const STORED = 'devmgr.preferences';

const stored = () => storedIn<Preferences>('localStorage', STORED);

/** The choices of the person. All tabs have the same. */
export const preferences = signal<Preferences>(stored() ?? {});
addEventListener('storage', ({ key }) => {
  if (key === STORED || key === null) preferences.value = stored() ?? {};
});

effect(() => {
  const { theme = 'system' } = preferences.value;
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
});

/** Changes some of the choices, as they are now: another tab may have changed them. */
export function prefer(change: (present: Preferences) => Preferences): void {
  const present = stored() ?? preferences.peek();
  preferences.value = { ...present, ...change(present) };
  localStorage.setItem(STORED, JSON.stringify(preferences.value));
}
