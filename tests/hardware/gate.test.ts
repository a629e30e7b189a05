/** A list names what may be sent to a key; everything else is refused before a byte leaves the program. */
import { describe, expect, test } from 'vitest';
import { exchange } from '../../drivers/protocols/apdu.ts';
import { CtapHidChannel } from '../../drivers/protocols/ctaphid.ts';
import { toPackets } from '../../drivers/protocols/ctaphid-packets.ts';
import { allowApdu, allowCtap, allowParty, allowSlot } from '../../drivers/protocols/gate.ts';
import { FakeCtapKey, FakeOtpKey, fakeCard, hex } from '../support/fake-ukey.ts';
import { FidoKey } from '../support/fido-key.ts';
import { takeUnlisted } from '../support/received-commands.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';
import { type CborInput, writeCbor } from '../support/test-cbor.ts';
import { cardRoot } from '../support/test-scp11b-card.ts';
import { silentFrom, uicc } from '../support/vcard-programs.ts';
import { yubiKey574 } from '../support/yubikey-574.ts';

const signal = new AbortController().signal;

const named = new Map<string, CborInput>([
  ['id', Buffer.alloc(16)],
  ['type', 'public-key'],
]);
/** The one getAssertion that is sent, with these parameters changed; null: left out. In hex. */
function assertion(change: Readonly<Record<number, CborInput | null>>): string {
  const parameters = { 1: 'devmgr.invalid', 2: Buffer.alloc(32), 3: [named], ...change };
  const present = Object.entries(parameters).filter(([, value]) => value !== null) as [string, CborInput][];
  return `02${writeCbor(new Map(present.map(([key, value]) => [Number(key), value]))).toString('hex')}`;
}

const lookUp = (change: Readonly<Record<number, CborInput | null>>): string =>
  assertion({ 5: new Map([['up', false]]), ...change });

describe('the gate refuses', () => {
  test.each([
    ['VERIFY with a PIN', '0020008108313233343536ffff'],
    ['VERIFY without data, which asks for the retries', '00200081'],
    ['CHANGE REFERENCE DATA', '0024008010313233343536ffff313233343537ffff'],
    ['RESET RETRY COUNTER', '002c008108313233343536ffff'],
    ['UPDATE BINARY', '00d600000a986800000000001032f2'],
    ['PUT KEY', '80d8010101ff'],
    ['DELETE', '80e4000004d0011300'],
    ['GENERATE KEY', '80f1001301f0'],
    ['STORE DATA of a security domain', '00e2900004a6028300'],
    ['an eUICC command that deletes a profile', '81e2910006bf3303810100'],
    ['INITIALIZE UPDATE', '8050000008000000000000000000'],
    ['EXTERNAL AUTHENTICATE', '80820000080000000000000000'],
    ['INTERNAL AUTHENTICATE with data that count as a failed attempt', '80880113080000000000000000'],
    ['INTERNAL AUTHENTICATE of another key', `80880111 53 a60d9002110095013c8001888101105f494104${'00'.repeat(64)}`],
    ['the factory reset of PIV', '00fb0000'],
    ['the factory reset of OATH', '0004dead'],
    ['the factory reset of OpenPGP', '00e60000'],
    ['WRITE CONFIG of a YubiKey', '001c000003020102'],
    ['an escape command of a reader', 'ff00513f00'],
    ['an empty command', ''],
  ])('%s', async (_what, apdu) => {
    expect(() => allowApdu(hex(apdu))).toThrow(RangeError);
    const card = fakeCard({});
    await expect(exchange(card, hex(apdu), signal)).rejects.toThrow('never sent');
    expect(card.sent).toEqual([]);
  });

  test.each([
    ['the update of Trussed firmware', 0x51, ''],
    ['its restart', 0x53, ''],
    ['the factory reset of its admin application', 0x72, '84'],
    ['its settings', 0x72, '83a0'],
    ['WRITE CONFIG of a YubiKey', 0x43, '00'],
    ['LOCK', 0x04, '0a'],
    ['clientPIN', 0x10, '06a201010202'],
    ['authenticatorReset', 0x10, '07'],
    ['getAssertion', 0x10, '02a0'],
    ['getAssertion at a site', 0x10, assertion({ 1: 'example.com' })],
    ['getAssertion with a stored credential', 0x10, assertion({ 3: [] })],
    ['getAssertion without a list of credentials', 0x10, assertion({ 3: null })],
    ['getAssertion with many credentials', 0x10, assertion({ 3: Array(9).fill(named) })],
    ['getAssertion with another hash', 0x10, assertion({ 2: Buffer.alloc(31) })],
    ['getAssertion with an extension', 0x10, assertion({ 4: new Map() })],
    ['getAssertion without a touch at a site', 0x10, lookUp({ 1: 'example.com' })],
    ['getAssertion without a touch at a site with an end like ours', 0x10, lookUp({ 1: 'my-devmgr.invalid' })],
    ['getAssertion without a touch by stored credentials', 0x10, lookUp({ 3: [] })],
    ['getAssertion without a touch with very many credentials', 0x10, lookUp({ 3: Array(65).fill(named) })],
    ['getAssertion without a touch with a PIN', 0x10, lookUp({ 6: Buffer.alloc(16) })],
    ['getAssertion with user verification', 0x10, lookUp({ 5: new Map([['uv', true]]) })],
    ['getAssertion with a PIN', 0x10, assertion({ 6: Buffer.alloc(16) })],
    ['credentialManagement', 0x10, '0aa0'],
    ['authenticatorConfig', 0x10, '0da0'],
    ['makeCredential with a PIN', 0x10, '01a10840'],
    ['makeCredential that stores the credential', 0x10, '01a107a162726bf5'],
    ['makeCredential with an extension', 0x10, '01a106a0'],
    ['getInfo with parameters', 0x10, '04a0'],
    ['U2F_AUTHENTICATE without data', 0x03, '00020300000040'],
    ['U2F_AUTHENTICATE that signs without a touch', 0x03, `00020800000051${'00'.repeat(0x51)}0000`],
    ['an empty CBOR command', 0x10, ''],
  ])('%s', async (_what, command, payload) => {
    expect(() => allowCtap(command, hex(payload))).toThrow(RangeError);
    const key = new FakeCtapKey([5, 7, 4], {});
    const channel = await CtapHidChannel.open(key, signal);
    await expect(channel.call(command, hex(payload), signal)).rejects.toThrow('never sent');
    expect(key.received).toEqual([]);
  });

  test.each([0x01, 0x03, 0x11, 0x12, 0x13, 0x38])('slot command %i of the OTP interface', slot => {
    expect(() => allowSlot(slot)).toThrow('never sent');
  });
});

test.each([
  ['a signature with a named credential of devmgr', 0x10, assertion({})],
  ['one with a credential of a registry', 0x10, assertion({ 1: '0f1e2d3c-4b5a.devmgr.invalid' })],
  ['whether a key has credentials of a registry', 0x10, lookUp({ 1: 'r1.devmgr.invalid', 3: Array(64).fill(named) })],
  ['whether a U2F key has a credential', 0x03, `00020700000051${'00'.repeat(0x51)}0000`],
  ['a signature of a U2F key after a touch', 0x03, `00020300000051${'00'.repeat(0x51)}0000`],
])('the gate lets %s pass', (_what, command, payload) => {
  expect(() => allowCtap(command, hex(payload))).not.toThrow();
});

test('credentials of sites are never asked for, whichever protocol the key has', () => {
  expect(() => allowParty('r1.devmgr.invalid')).not.toThrow();
  for (const site of ['example.com', 'devmgr.invalid.example.com', 'a.b.devmgr.invalid', ''])
    expect(() => allowParty(site)).toThrow('never asked for');
});

describe('a command that came past the gate is noticed by', () => {
  const VERIFY = '0020008108313233343536FFFF';
  const ERASE = Uint8Array.of(0x07);
  const fido = () => {
    const authenticator = new TestAuthenticator({
      root: authenticatorRoot(),
      aaguid: '11111111-2222-3333-4444-555555555555',
    });
    return new FidoKey({ authenticator });
  };

  test.each([
    ['a card', () => uicc({ iccid: '8986000000000001232' }).answer(hex(VERIFY))],
    [
      'a card that does not answer',
      () => silentFrom('0020', uicc({ iccid: '8986000000000001232' })).answer(hex(VERIFY)),
    ],
    ['a YubiKey', () => yubiKey574({ root: cardRoot() }).program.answer(hex(VERIFY))],
    ['a security domain', () => yubiKey574({ root: cardRoot() }).domain.answer(hex(VERIFY))],
    ['a card in this process', () => fakeCard({}).transmit(hex(VERIFY), signal)],
  ])('%s', async (_what, send) => {
    await send();
    expect(takeUnlisted()).toEqual([`APDU ${VERIFY}`]);
  });

  test.each([
    ['a key', () => new FakeCtapKey([5, 7, 4], {})],
    ['an authenticator', fido],
  ])('%s', async (_what, make) => {
    const key = make();
    for (const packet of toPackets(1, 0x10, ERASE)) await key.write(packet);
    expect(takeUnlisted()).toEqual(['CTAPHID 10 07']);
  });

  test('the OTP interface of a key', async () => {
    const key = new FakeOtpKey('050403', null);
    const slot = 0x01;
    // The last two pieces of a frame: its slot number is at offset 64.
    await key.sendFeature(Uint8Array.of(0, slot, 0, 0, 0, 0, 0, 0x89));
    expect(takeUnlisted()).toEqual(['OTP slot 01']);
  });
});
