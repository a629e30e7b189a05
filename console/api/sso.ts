/** Sign-ins at the provider of single sign-on. The tab leaves for it and returns with a code that belongs to what the tab stored. */
import { storedIn } from '../stored.ts';
import { call } from './request.ts';
import { useResource } from './resource.ts';

/** Where the tab stores which sign-in it has begun, and the place that it shows afterwards. */
const STORED = 'devmgr.sso';

/** Leaves for the provider. `again`: a session there is not enough. */
export async function signInAtProvider(again: boolean): Promise<void> {
  const { url, state } = await call('startSso', { body: { again } });
  sessionStorage.setItem(STORED, JSON.stringify({ state, place: location.hash }));
  location.assign(url);
}

/** The place to show after a sign-in that this tab has begun; null if it has not begun this one: a link can have any code. Forgets it. */
export function placeAfter(state: string | null): string | null {
  const begun = storedIn<{ readonly state: string; readonly place: string }>('sessionStorage', STORED);
  if (!begun || begun.state !== state) return null;
  sessionStorage.removeItem(STORED);
  return begun.place.startsWith('#/') && !begun.place.includes('sso=') ? begun.place : '#/';
}

/** Label of the button; null if people do not sign in at a provider, or while that is unknown. `wanted`: whether to ask. */
export function useProvider(wanted: boolean): string | null {
  const { data } = useResource(async signal => (wanted ? call('showSso', {}, { signal }) : null));
  return data.value?.enabled ? data.value.name : null;
}

/** Whether the session of this tab came from the provider; null until that is known. */
export function useIsOfProvider(): boolean | null {
  const { data, problem } = useResource(signal => call('getSession', {}, { signal }));
  return problem.value ? false : (data.value?.sso ?? null);
}
