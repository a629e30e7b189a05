/** A key is issued: PIN, stored credentials, rules, reset; by both PIN protocols, against an authenticator written from the standard. */
import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { HardwareError } from '../../drivers/hardware-error.ts';
import type { IssuedKey, StoredCredentialRequest } from '../../drivers/issued-key.ts';
import { expectBytes, expectMap, readCbor } from '../../drivers/protocols/cbor.ts';
import { writeCbor } from '../../drivers/protocols/cbor-write.ts';
import { allowCtap, allowIssuing, allowReset } from '../../drivers/protocols/gate.ts';
import { issueKey } from '../../drivers/protocols/issue-key.ts';
import { hex } from '../support/fake-ukey.ts';
import { FidoKey } from '../support/fido-key.ts';
import { IssuableAuthenticator, type IssuableOptions } from '../support/issuable-authenticator.ts';
import { authenticatorRoot } from '../support/test-authenticator.ts';

const AAGUID = 'ee882879-721c-4913-9775-3dfcce97072a';
const root = authenticatorRoot();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const request: StoredCredentialRequest = {
  clientDataHash: createHash('sha256').update('client data').digest(),
  relyingParty: { id: 'login.example', name: 'Example' },
  user: { id: bytes('person-1'), name: 'ada', displayName: 'Ada Lovelace' },
  algorithms: [-7],
  exclude: [],
  protection: 2,
  enterprise: false,
};

function keyWith(options: Partial<IssuableOptions> = {}) {
  const authenticator = new IssuableAuthenticator({ root, aaguid: AAGUID, ...options });
  const key = new FidoKey({ authenticator, touched: true, issued: true });
  const view = {
    vendorId: '1050',
    productId: '0407',
    descriptorSerial: null,
    openFido: async () => Object.assign(key, { close: async () => undefined }),
    openOtp: null,
    openCard: null,
  };
  const issue = <T>(task: (issued: IssuedKey) => Promise<T>, mayReset = false) =>
    issueKey(view, { signal: new AbortController().signal, onTouch: () => undefined, mayReset }, task);
  return { authenticator, key, issue };
}

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    error => (error instanceof HardwareError ? (error.data.refusal ?? error.code) : String(error)),
  );

describe.each([
  ['protocol two', { protocols: [2, 1] }],
  ['protocol one of CTAP 2.1', { protocols: [1] }],
  ['a key of CTAP 2.0', { protocols: [1], ctap21: false }],
  ['a key that prefers protocol one', { protocols: [1, 2], refusedProtocol: 2 }],
  ['a key that lists protocol two first and refuses it', { protocols: [2, 1], refusedProtocol: 2 }],
] as const)('with %s', (_what, options) => {
  test('a PIN is set, and opens a stored credential', async () => {
    const { authenticator, issue } = keyWith(options);
    await issue(async key => {
      expect(await key.pinState()).toMatchObject({ isSet: false, retries: null, minLength: 4 });
      await key.setPin(bytes('Grüße-271'));
      expect(await key.pinState()).toMatchObject({ isSet: true, retries: 8, needsReplug: false });
      const { attestationObject, credentialId } = await key.makeCredential(request, bytes('Grüße-271'));
      const object = expectMap(readCbor(attestationObject), 'attestation object');
      expect([...object.keys()]).toEqual(['fmt', 'attStmt', 'authData']);
      expect(expectBytes(object.get('authData'), 'data')[32]! & 0x45).toBe(0x45);
      expect(authenticator.credentials[0]!.id.equals(credentialId)).toBe(true);
    });
    expect(authenticator.isPin('Grüße-271')).toBe(true);
    expect(authenticator.credentials).toMatchObject([{ rpId: 'login.example', userName: 'ada', protection: 2 }]);
  });

  test('a wrong PIN is entered once', async () => {
    const { authenticator, issue } = keyWith(options);
    await issue(key => key.setPin(bytes('481516')));
    expect(await refusalOf(issue(key => key.makeCredential(request, bytes('481517'))))).toBe('pin-invalid');
    expect([authenticator.entries, authenticator.retries]).toEqual([1, 7]);
    expect(await issue(key => key.pinState())).toMatchObject({ retries: 7 });
  });
});

test('several credentials are made in one plugging, each by a token of its own', async () => {
  const { authenticator, issue } = keyWith();
  await issue(async key => {
    await key.setPin(bytes('481516'));
    for (const id of ['a.example', 'b.example'])
      await key.makeCredential({ ...request, relyingParty: { id, name: id } }, bytes('481516'));
  });
  expect(authenticator.credentials.map(one => one.rpId)).toEqual(['a.example', 'b.example']);
});

test('a key that has a credential of the list makes no other', async () => {
  const { authenticator, issue } = keyWith();
  await issue(async key => {
    await key.setPin(bytes('481516'));
    await key.makeCredential(request, bytes('481516'));
    const exclude = authenticator.credentials.map(one => one.id);
    expect(await refusalOf(key.makeCredential({ ...request, exclude }, bytes('481516')))).toBe('excluded');
  });
  expect(authenticator.credentials).toHaveLength(1);
});

describe('a list that is longer than a key takes', () => {
  const others = (count: number, length = 64) =>
    Array.from({ length: count }, (_, i) => new Uint8Array(length).fill(i));

  test.each([1, 2, 3] as const)(
    'has a credential of the key, with protection %s: it makes no other',
    async protection => {
      const { authenticator, issue } = keyWith();
      await issue(async key => {
        await key.setPin(bytes('481516'));
        await key.makeCredential({ ...request, protection }, bytes('481516'));
        const exclude = [...others(20), authenticator.credentials[0]!.id];
        expect(await refusalOf(key.makeCredential({ ...request, exclude }, bytes('481516')))).toBe('excluded');
      });
      expect(authenticator.credentials).toHaveLength(1);
      expect(authenticator.entries).toBe(2);
    },
  );

  test('has none of the key: it makes one', async () => {
    const { authenticator, issue } = keyWith();
    await issue(async key => {
      await key.setPin(bytes('481516'));
      await key.makeCredential({ ...request, exclude: [...others(250), ...others(3, 5000)] }, bytes('481516'));
    });
    expect(authenticator.credentials).toHaveLength(1);
  });

  test('is divided into messages that CTAPHID carries, even if the key reports that it takes longer ones', async () => {
    const { authenticator, issue } = keyWith();
    const answer = authenticator.cbor.bind(authenticator);
    const [maxMessage, maxList] = [5, 7];
    const noCredentials = Buffer.of(0x2e);
    authenticator.cbor = command => {
      if (command[0] === 0x02) return noCredentials;
      if (command[0] !== 0x04) return answer(command);
      const info = new Map(expectMap(readCbor(answer(command).subarray(1)), 'info'));
      return Buffer.concat([Buffer.of(0), writeCbor(info.set(maxMessage, 65_535).set(maxList, 100))]);
    };
    await issue(async key => {
      await key.setPin(bytes('481516'));
      await key.makeCredential({ ...request, exclude: others(60, 200) }, bytes('481516'));
    });
    expect(authenticator.credentials).toHaveLength(1);
  });

  test('is not asked for if it is short', async () => {
    const { authenticator, issue } = keyWith();
    await issue(async key => {
      await key.setPin(bytes('481516'));
      await key.makeCredential({ ...request, exclude: others(4) }, bytes('481516'));
    });
    expect(authenticator.commands.filter(name => name.startsWith('02'))).toEqual([]);
  });
});

test.each([
  ['gives it to a provider that asks for one', true, Uint8Array.of(1, 2, 3), 1],
  ['gives none that was not asked for', false, Uint8Array.of(1, 2, 3), 0],
  ['is not asked for one that it does not have', true, undefined, 0],
])('a key with an enterprise attestation %s', async (_what, enterprise, serialOctets, given) => {
  const { key, issue } = keyWith(serialOctets === undefined ? {} : { serialOctets });
  await issue(async issued => {
    await issued.setPin(bytes('481516'));
    await issued.makeCredential({ ...request, enterprise }, bytes('481516'));
  });
  // Parameter 10 of makeCredential, the last one, is 2: the platform has chosen the relying party.
  expect(key.received.filter(message => /^1001.*0a02$/.test(message))).toHaveLength(given);
});

test('removing a credential succeeds, also if the key does not have it', async () => {
  const { authenticator, issue } = keyWith();
  await issue(async key => {
    await key.setPin(bytes('481516'));
    await key.makeCredential(request, bytes('481516'));
    const { id } = authenticator.credentials[0]!;
    await key.deleteCredential(id, bytes('481516'));
    await key.deleteCredential(id, bytes('481516'));
  });
  expect(authenticator.credentials).toEqual([]);
});

test('the rules of the PIN come last: a PIN that has to be changed opens nothing any more', async () => {
  const { authenticator, issue } = keyWith();
  await issue(async key => {
    await key.setPin(bytes('48151623'));
    await key.setPinRules({ minLength: 8, forceChange: true }, bytes('48151623'));
    expect(await key.pinState()).toMatchObject({ minLength: 8, mustChange: true });
    expect(await refusalOf(key.makeCredential(request, bytes('48151623')))).toBe('pin-policy');
  });
  expect(authenticator.minPinLength).toBe(8);
});

test.each([
  ['is too short for the key', { minPinLength: 8 }, '481516', 'pin-policy'],
  ['has 64 bytes', {}, 'ä'.repeat(32), 'protocol'],
])('a PIN that %s is refused', async (_what, options, pin, refusal) => {
  const { authenticator, issue } = keyWith(options);
  expect(await refusalOf(issue(key => key.setPin(bytes(pin))))).toBe(refusal);
  expect(authenticator.hasPin).toBe(false);
});

test('a PIN that is set is never replaced', async () => {
  const { authenticator, issue } = keyWith();
  await issue(key => key.setPin(bytes('481516')));
  expect(await refusalOf(issue(key => key.setPin(bytes('999999'))))).not.toBe('nothing');
  expect(authenticator.isPin('481516')).toBe(true);
});

test('a full key stores nothing', async () => {
  const { issue } = keyWith({ room: 0 });
  await issue(async key => {
    await key.setPin(bytes('481516'));
    expect(await key.pinState()).toMatchObject({ freeCredentials: 0 });
    expect(await refusalOf(key.makeCredential(request, bytes('481516')))).toBe('full');
  });
});

test('a reset needs the permission of the operator, and a key that was just plugged in', async () => {
  const { authenticator, issue } = keyWith();
  await issue(key => key.setPin(bytes('481516')));
  await expect(issue(key => key.reset())).rejects.toThrow('never sent');
  authenticator.age();
  expect(await refusalOf(issue(key => key.reset(), true))).toBe('not-allowed');
  authenticator.replug();
  await issue(key => key.reset(), true);
  expect(authenticator.hasPin).toBe(false);
});

test.each([
  [
    'a public key that is not on the curve',
    Buffer.concat([
      hex('a101a5010203382620012158'),
      hex('20'),
      Buffer.alloc(32, 1),
      hex('225820'),
      Buffer.alloc(32, 2),
    ]),
  ],
  ['without coordinates', hex('a101a20102033826')],
  ['that is not a map', hex('a10101')],
])('a key that answers with a public key %s gets no PIN', async (_what, answer) => {
  const authenticator = new IssuableAuthenticator({ root, aaguid: AAGUID });
  const key = new FidoKey({
    authenticator,
    issued: true,
    answer: sent => (sent[0] === 0x06 ? Buffer.concat([Buffer.of(0), answer]) : null),
  });
  const view = {
    vendorId: '1050',
    productId: '0407',
    descriptorSerial: null,
    openFido: async () => Object.assign(key, { close: async () => undefined }),
    openOtp: null,
    openCard: null,
  };
  const work = { signal: new AbortController().signal, onTouch: () => undefined };
  expect(await refusalOf(issueKey(view, work, issued => issued.setPin(bytes('481516'))))).toBe('protocol');
  expect(key.received.filter(message => message.startsWith('1006')).length).toBe(1);
});

describe('the gate of issuing', () => {
  const CBOR = 0x10;
  test.each([
    ['changePIN', '06a201020204'],
    ['a token by fingerprint', '06a201020206'],
    ['clientPIN with an unknown parameter', '06a201020b01'],
    ['a command of the preview', '41a10102'],
    ['enumeration of credentials', '0aa10102'],
    ['a new name for a credential', '0aa10107'],
    ['alwaysUv', '0da10102'],
    ['the switch to enterprise attestation', '0da10101'],
    ['bioEnrollment', '09a10101'],
    ['largeBlobs', '0ca10100'],
    ['getAssertion', '02a0'],
    ['getAssertion with a touch', '02a401616102400381a005a1627570f5'],
    ['getAssertion with an empty list', '02a4016161024003 8005a1627570f4'],
    ['a reset', '07'],
  ])('refuses %s', (_what, payload) => {
    expect(() => allowIssuing(CBOR, hex(payload))).toThrow('never sent');
  });

  test('lets a reset pass only with permission', () => {
    expect(() => allowReset(CBOR, hex('07'))).not.toThrow();
    expect(() => allowReset(CBOR, hex('07a0'))).toThrow('never sent');
  });

  test.each(['06a201020203', '0da10103', '0aa10106', '01a107a162726bf5', '02a401616102400381a005a1627570f4'])(
    'is not that of enrollment and proofs: %s',
    payload => {
      expect(() => allowIssuing(CBOR, hex(payload))).not.toThrow();
      expect(() => allowCtap(CBOR, hex(payload))).toThrow('never sent');
    },
  );
});

test('a task has one limit of time, however many commands it takes', async () => {
  const { issue } = keyWith();
  const exclude = Array.from({ length: 20 }, (_, i) => new Uint8Array(200).fill(i));
  const limits = vi.spyOn(AbortSignal, 'timeout');
  await issue(async key => {
    await key.setPin(bytes('2716'));
    await key.makeCredential({ ...request, exclude }, bytes('2716'));
  });
  expect(limits.mock.calls.filter(([milliseconds]) => milliseconds >= 40_000)).toHaveLength(1);
  limits.mockRestore();
});

test.each([
  ['is not CBOR', 'a3ff'],
  ['is not a map', '80'],
  ['has no statement', 'a20163617070024100'],
  ['has no credential', `a301646e6f6e650258${(40).toString(16)}${'00'.repeat(40)}03a0`],
])('a response about a credential that %s is an error of the key', async (_what, response) => {
  const { authenticator, issue } = keyWith();
  const answer = authenticator.cbor.bind(authenticator);
  authenticator.cbor = command =>
    command[0] === 0x01 ? Buffer.concat([Buffer.of(0), hex(response)]) : answer(command);
  expect(await refusalOf(issue(key => key.makeCredential(request, null)))).toBe('protocol');
});

test.each([2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, -(2 ** 40), null, new Map([[1, null]])])(
  'an item of an attestation is written as it was read: %s',
  item => {
    expect(readCbor(writeCbor(item))).toEqual(item);
  },
);
