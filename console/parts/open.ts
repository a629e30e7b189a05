/** Layers in front of any page: the search, the list of keys, the dialog that adds a device. */
import { signal } from '@preact/signals';
import { isHolder, session } from '../api/session.ts';
import { place } from '../router.ts';
import { text } from '../text/words.ts';
import type { SingleOperation } from './device-columns.tsx';

/** The layer in front of the page: a search, the form of an action, or the list of keys. Null if there is none. */
export const opened = signal<'search' | 'keys' | SingleOperation | ChosenAction | null>(null);

type ChosenAction = Readonly<{ name: SingleOperation; deviceId: string }>;

/** How the key beside K is written on this machine. */
export const modifier = (): string => (/Mac|iP/.test(navigator.platform) ? '⌘' : `${text.nav.control} `);

const byKey: Readonly<Record<string, 'search' | 'keys'>> = { '/': 'search', '?': 'keys' };

/** ⌘K and Ctrl+K everywhere; `/` and `?` where nothing is typed: not in fields, dialogs, menus, and not at the station. */
function press(event: KeyboardEvent): void {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isAway = !session.peek() || isHolder.peek() || document.querySelector('dialog[open]') !== null;
  if (isAway || event.defaultPrevented || event.repeat || event.isComposing) return;
  const isTyped =
    place.peek().path[0] === 'station' ||
    (target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, [role=menu]') !== null);
  const wanted =
    (ctrlKey || metaKey) && !altKey ? key.toLowerCase() === 'k' && 'search' : !altKey && !isTyped && byKey[key];
  if (!wanted) return;
  event.preventDefault();
  opened.value = wanted;
}

/** Listens to the keys. */
export const startKeys = (): void => addEventListener('keydown', press);

/** Another one for each time that the dialog is opened; null while it is closed. */
export const adding = signal<object | null>(null);

/** Opens the dialog, or begins again with an empty one. */
export const addDevice = (): void => {
  adding.value = {};
};
