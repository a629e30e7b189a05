import type { Entry } from '../../framework/define.ts';
import { entry } from '../entry.ts';

/** The commands about single sign-on, in the order of the help. */
export const ssoEntries: readonly Entry[] = [
  entry('sso show', 'show how people sign in at the provider', async () => (await import('./sso.ts')).ssoShow),
  entry('sso set', 'sign people in at a provider', async () => (await import('./set.ts')).ssoSet),
  entry('sso test', 'check the provider', async () => (await import('./sso.ts')).ssoTest),
  entry('sso remove', 'end single sign-on', async () => (await import('./sso.ts')).ssoRemove, 'sso rm'),
];
