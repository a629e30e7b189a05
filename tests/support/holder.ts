/** A person who signs in by single sign-on, has the role HOLDER, and holds keys. */
import type { RouteShape } from '../../src/contract/define.ts';
import type { TestDaemon } from './daemon.ts';
import { data, register } from './fleet.ts';
import { Browser, type SsoProvider, setUp, startSsoProvider } from './sso-provider.ts';

/** Options of requests to any operation: those of people on their own keys get the token of a HOLDER. */
export async function callerFor(daemon: TestDaemon): Promise<(shape: RouteShape) => { readonly token?: string }> {
  const { token } = await holder(daemon, await letHoldersIn(daemon), 'caller');
  return ({ access }) => (access?.toString() === 'HOLDER' ? { token } : {});
}

/** Has a daemon let persons in who are in none of the groups. */
export async function letHoldersIn(daemon: TestDaemon): Promise<SsoProvider> {
  const provider = await startSsoProvider({ daemons: [daemon.url] });
  await setUp(daemon, provider, { holders: true });
  return provider;
}

/** Adds a person to the registry and to the provider, and signs the person in. */
export async function holder(daemon: TestDaemon, provider: SsoProvider, name: string) {
  const { personId } = data(await daemon.call('POST', '/api/people', { userName: name, name: `Full ${name}` }));
  provider.people.set(`s-${name}`, { name, groups: ['staff'] });
  const { token, user } = await new Browser().signIn(daemon, `s-${name}`);
  return { name, personId: personId as string, token, user: user! };
}

/** An ACTIVE device of a person. */
export async function heldDevice(daemon: TestDaemon, userId: string, more: Readonly<Record<string, unknown>> = {}) {
  const device = await register(daemon, more);
  const { deviceId, activationCode } = device;
  data(await daemon.call('POST', '/api/devices/activate', { deviceId, activationCode, userId }));
  return device;
}
