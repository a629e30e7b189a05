/** A registry in which every page of the console has something to show: for the tests of all pages, and for their pictures. */
import { makeRoot } from '../support/test-pki.ts';

interface Sample {
  readonly url: string;
  /** Of the user admin, and of the users that are made. */
  readonly password: string;
  /** Puts the clock of the daemon forward, in milliseconds. Absent: everything happens at once. */
  readonly forward?: (milliseconds: number) => void;
}

/** Ids, by the page that shows them. */
type SampleItems = Readonly<
  Record<'devices' | 'people' | 'users' | 'lots' | 'stations' | 'tokens' | 'webhooks' | 'providers', string>
>;

const hour = 3_600_000;

const models = [
  {
    deviceType: 'UKEY',
    manufacturer: 'Yubico',
    model: 'YubiKey 5 NFC',
    serial: (i: number) => `${24_018_300 + 17 * i}`,
  },
  { deviceType: 'UKEY', manufacturer: 'Nitrokey', model: 'Nitrokey 3A NFC', serial: (i: number) => `NK3-${7200 + i}` },
  { deviceType: 'UKEY', manufacturer: 'Yubico', model: 'YubiKey 5C', serial: (i: number) => `${27_400_100 + 13 * i}` },
  {
    deviceType: 'SIMKEY',
    manufacturer: 'Giesecke+Devrient',
    model: 'SIM key',
    serial: (i: number) => `898600000000047${11_000 + i}`,
  },
] as const;
const sites = ['Bonn', 'Graz', 'Oslo'];
const people = [
  'ines.kramer',
  'jonas.weber',
  'lea.hansen',
  'marek.novak',
  'nora.lindqvist',
  'omar.haddad',
  'pia.fischer',
];
/** Devices that are registered together, a batch every 20 hours. */
const batches = [12, 6, 18, 0, 9, 14, 3, 0, 21, 10, 8, 16, 0, 5, 11, 7];

/** Fills an empty registry through its interface. Resolves to the ids of the items with the most to show. */
export async function fillSample({ url, password, forward = () => {} }: Sample): Promise<SampleItems> {
  const ask = async (method: string, path: string, body?: object, token = admin) => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of several operations
    const { code, message, data } = (await response.json()) as { code: number; message: string; data: any };
    if (code !== 200) throw new Error(`${method} ${path}: ${message}`);
    return data;
  };
  const post = (path: string, body: object, token?: string) => ask('POST', path, body, token);
  const login = async (username: string) => (await post('/api/auth/login', { username, password })).token as string;
  let admin = '';
  admin = await login('admin');
  const user = async (username: string, role: string) => {
    await post('/api/users', { username, role, password, email: `${username}@example.com` });
    return await login(username);
  };
  let ada = await user('ada', 'ADMIN');
  let maria = await user('maria', 'DEALER');
  const auditor = await post('/api/users', { username: 'auditor', role: 'VIEWER', password });
  for (const [name, role, expiresInDays] of [
    ['line-3', 'DEALER', 90],
    ['inventory report', 'VIEWER', 365],
  ])
    await post('/api/tokens', { name, role, expiresInDays });
  const entra = { type: 'entra', tenant: 'example.onmicrosoft.com', clientId: '5f1c9a52-0f1d-4c6e-9a57-2f0d6f8f1b3e' };
  await post('/api/providers', { name: 'company', ...entra, secret: 'a client secret' });
  await post('/api/providers', { name: 'okta', type: 'okta', address: 'https://example.okta.com', secret: 'a token' });
  const trusted = new FormData();
  trusted.append('label', 'Nitrokey');
  trusted.append('file', new Blob([new Uint8Array(makeRoot('FIDO Attestation Root').der)]), 'root.der');
  await post('/api/trust', trusted);
  for (const [platform, version, name] of [
    ['ANDROID', '2.4.0', 'devmgr-2.4.0.apk'],
    ['WINDOWS', '3.1.2', 'devmgr-3.1.2.exe'],
    ['ANDROID', '2.5.0', 'devmgr-2.5.0.apk'],
  ] as const) {
    const raw = new FormData();
    raw.append('platform', platform);
    raw.append('version', version);
    raw.append('file', new Blob(['an installer package '.repeat(4000 + version.charCodeAt(2))]), name);
    await post('/api/app-versions/upload', raw);
  }

  let made = 0;
  const all: { readonly deviceId: string; readonly activationCode: string }[] = [];
  for (const [lot, count] of batches.entries()) {
    forward(20 * hour);
    // A token is valid for a day.
    [admin, ada, maria] = [await login('admin'), await login('ada'), await login('maria')];
    if (count === 0) continue;
    const devices = Array.from({ length: count }, () => {
      const { serial, ...model } = models[(lot + (made % 3 === 0 ? 1 : 0)) % models.length]!;
      const tags = {
        lot: `2026-${41 + Math.floor(lot / 3)}`,
        site: sites[made % sites.length]!,
        station: `line-${1 + (lot % 3)}`,
      };
      return { ...model, serialNumber: serial(made++), tags };
    });
    const { results } = await post('/api/devices/batch-register', { devices }, maria);
    all.push(...results);
    forward(hour);
    const items = results
      .slice(0, Math.ceil(count * 0.7))
      .map(({ deviceId, activationCode }: (typeof all)[number], i: number) => ({
        deviceId,
        activationCode,
        userId: people[(lot + i) % people.length],
      }));
    await post('/api/devices/batch-update', { operation: 'ACTIVATE', items }, maria);
  }
  forward(hour);
  const locked = [3, 20, 21, 48, 77].map(i => ({ deviceId: all[i]!.deviceId, reason: 'reported as lost' }));
  await post('/api/devices/batch-update', { operation: 'LOCK', items: locked }, ada);
  const retired = [40, 41].map(i => ({ deviceId: all[i]!.deviceId, reason: 'worn out' }));
  await post('/api/devices/batch-update', { operation: 'DEACTIVATE', items: retired, confirmPassword: password }, ada);
  for (const i of [16, 17, 35]) {
    const { deviceId } = all[i]!;
    await post('/api/devices/generate-activation-code', { deviceId, validityDays: 4, reason: 'a new person' });
  }
  const { webhookId } = await post('/api/webhooks', {
    url: 'https://hooks.example.com/devmgr',
    types: ['DEVICE_LOCKED', 'DEVICE_DEACTIVATED'],
  });
  await ask('PUT', `/api/users/${auditor.id}`, { disabled: true });
  forward(hour);
  const { list: users } = await ask('GET', '/api/users/list');
  return {
    devices: await deviceWithEverything(),
    people: await leavers(),
    users: users.find(({ username }: { username: string }) => username === 'ada').id,
    lots: '2026-44',
    stations: 'line-2',
    tokens: 'line-3',
    webhooks: webhookId,
    providers: 'company',
  };

  /** Persons, one of whom has left, one with devices that are held. */
  async function leavers(): Promise<string> {
    const ids = [];
    for (const userName of [...people, 'tom.berg']) {
      const name = userName.replace(/(^|\.)\w/g, part => part.replace('.', ' ').toUpperCase());
      ids.push((await post('/api/people', { userName, name, email: `${userName}@example.com` })).personId);
    }
    for (const personId of [ids[0], ids.at(-1)]) await post(`/api/people/${personId}/leave`, { reason: 'has left' });
    return ids[0];
  }

  /** Active, with a proof, a note and a backup. */
  async function deviceWithEverything(): Promise<string> {
    const { deviceId } = all.at(-7)!;
    const { serialNumber } = await ask('GET', `/api/devices/${deviceId}`);
    const { proofId } = await post('/api/proofs/challenge', {});
    await post(`/api/proofs/${proofId}`, { serialNumber, claims: { firmware: '5.7.4', formFactor: 'usb-a-keychain' } });
    await ask('PUT', `/api/devices/${deviceId}`, { note: 'Collected at the desk in Graz, with a lanyard.' }, ada);
    const raw = new FormData();
    raw.append('note', 'before the trip');
    raw.append('file', new Blob(['an encrypted backup']), 'key.bak');
    await post(`/api/devices/${deviceId}/backups`, raw);
    return deviceId;
  }
}
