/** States of records that take other systems or time, on top of the sample: for the tests of all pages. */
import { afterAll, beforeAll } from 'vitest';
import { adminPassword } from '../support/daemon.ts';
import { clockOfTests } from '../support/daemon-tests.ts';
import { data } from '../support/fleet.ts';
import { heldDevice } from '../support/holder.ts';
import { reading } from '../support/slapd.ts';
import { Browser, type SsoProvider, setUp, startSsoProvider } from '../support/sso-provider.ts';
import { type ConsoleTests, consoleTests } from './browser.ts';
import { type ItemIds, places, withItem } from './pages.ts';
import { fillSample } from './sample.ts';

const day = 86_400_000;

/** Pages of records in a state that no item of the sample has. */
const states = ['a shipped, overdue key', 'an erased person', 'a person with an open case'] as const;
type State = (typeof states)[number];
/** The only page of a HOLDER. */
export const OWN_KEYS = 'me';
/** Every page, and every state. */
export const everyPlace = [...places, ...states, OWN_KEYS];

/** Runs in the page: what is wrong or empty, without a link, a control or a command that leads on. */
export const stuck = `[...document.querySelectorAll('main :is(.badge.warn, .badge.bad, .empty, [role=alert])')]
  .filter(each => each.textContent.trim() && !each.closest('tr, li, section, .empty, .bar')?.querySelector('a, button, code'))
  .map(each => each.closest('tr, li, section, .empty, .bar')?.textContent ?? each.textContent)`;

/** A registry in which every page has something to show, and every state a record. */
export function wholeRegistry(): ConsoleTests & {
  /** Ids of the items of the sample. */
  items(): ItemIds;
  /** The address of one of `everyPlace`. */
  placeOf(name: string): string;
  /** Options of a tab in which a place is shown: a HOLDER has own keys, an ADMIN everything else. */
  sessionFor(name: string): { readonly token: string; readonly user?: object };
} {
  const clock = clockOfTests();
  const tests = consoleTests({ simulateKeys: 1 });
  const { daemon } = tests;
  let provider: SsoProvider;
  let items: ItemIds = {};
  let token = '';
  let holder = { token: '', user: {} };
  const addresses = new Map<string, string>();
  beforeAll(async () => {
    items = await fillSample({ url: daemon.url, password: adminPassword });
    provider = await startSsoProvider({ daemons: [daemon.url] });
    const found = await addStates();
    for (const state of states) addresses.set(state, found[state]);
  }, 120_000);
  afterAll(() => provider?.stop());

  async function addStates(): Promise<Record<State, string>> {
    const call = async (method: string, path: string, body?: object) => data(await daemon.call(method, path, body));
    await setUp(daemon, provider, { name: 'workforce', holders: true });
    await call('PUT', '/api/directory', { url: 'ldaps://directory.example.com', ...reading });
    await call('POST', '/api/tokens', { name: 'joiners', role: 'VIEWER', may: ['scim'], expiresInDays: 365 });
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
    await call('PUT', '/api/policies/pin', { recipients: [recipient] });
    const people = { personsRequired: false, leavers: 'lock', leaverDelayHours: 0, arrivalDays: 1 };
    await call('PUT', '/api/policies/people', people);
    const person = async (userName: string, name: string) =>
      (await call('POST', '/api/people', { userName, name })).personId as string;
    const gone = await person('rosa.gone', 'Rosa Gone');
    const kept = { kind: 'device', id: (await heldDevice(daemon, 'rosa.gone')).deviceId, reason: 'in the safe' };
    await call('POST', `/api/people/${gone}/leave`, { reason: 'has left' });
    await call('POST', `/api/people/${gone}/case/keep`, kept);
    await call('POST', `/api/people/${gone}/case/close`);
    await call('POST', `/api/people/${gone}/erase`, { confirmPassword: adminPassword });
    const left = await person('uwe.left', 'Uwe Left');
    await heldDevice(daemon, 'uwe.left');
    await call('POST', `/api/people/${left}/leave`, { reason: 'has left' });
    await person('hanna.holt', 'Hanna Holt');
    const [sent, lost, retired] = [0, 1, 2, 3].map(() => heldDevice(daemon, 'hanna.holt'));
    const { deviceId } = await sent!;
    await call('POST', `/api/devices/${deviceId}/shipped`);
    await call('POST', `/api/devices/${(await lost!).deviceId}/lock`, { reason: 'lost' });
    const ended = { reason: 'worn out', confirmPassword: adminPassword };
    await call('POST', `/api/devices/${(await retired!).deviceId}/deactivate`, ended);
    clock.forward(day + 1000);
    const login = { username: 'admin', password: adminPassword };
    token = data(await daemon.call('POST', '/api/auth/login', login, { token: null })).token;
    provider.people.set('s-hanna', { name: 'hanna.holt', groups: [] });
    const signed = await new Browser().signIn(daemon, 's-hanna');
    holder = { token: signed.token, user: signed.user! };
    return {
      'a shipped, overdue key': `devices/${deviceId}`,
      'an erased person': `people/${gone}`,
      'a person with an open case': `people/${left}`,
    };
  }

  return {
    ...tests,
    items: () => items,
    placeOf: name => (name === OWN_KEYS ? name : (addresses.get(name) ?? withItem(name, items))),
    sessionFor: name => (name === OWN_KEYS ? holder : { token }),
  };
}
