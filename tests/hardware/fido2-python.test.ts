/** Debian's python3-fido2 talks to the cards of the tests as devmgr does, and finds the credential that devmgr has made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { fidoCardInfo } from '../../drivers/protocols/fido-card.ts';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import { proveKey, recognizeKey } from '../../drivers/protocols/prove-key.ts';
import { fidoCard } from '../support/fido-card.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

const REGISTRY = 'r1.devmgr.invalid';
const AAGUID = '11111111-2222-3333-4444-555555555555';

/** Its PC/SC device with a connection to this process: commands and responses are lines in hex. */
const PYTHON = `
import json, sys, types, uuid
names = {'smartcard': ['System'], 'smartcard.pcsc': [], 'smartcard.pcsc.PCSCExceptions': ['ListReadersException'], 'smartcard.pcsc.PCSCContext': ['PCSCContext']}
for name, members in names.items():
    module = sys.modules[name] = types.ModuleType(name)
    for member in members: setattr(module, member, type(member, (Exception,), {}))
from fido2.pcsc import CtapPcscDevice
from fido2.ctap import CtapError
from fido2.ctap2 import CTAP2
class Connection:
    def connect(self): pass
    def transmit(self, apdu, protocol):
        print(bytes(apdu).hex(), flush=True)
        answer = bytes.fromhex(sys.stdin.readline())
        return list(answer[:-2]), answer[-2], answer[-1]
ctap = CTAP2(CtapPcscDevice(Connection(), 'test'))
def asked(*ids):
    try:
        listed = [{'type': 'public-key', 'id': one} for one in ids]
        return ctap.get_assertion(sys.argv[2], bytes(32), listed, options={'up': False}).credential['id'].hex()
    except CtapError as error:
        return str(error.code)
own = bytes.fromhex(sys.argv[1])
others = [bytes([n]) * 64 for n in range(6)]
print(json.dumps({'aaguid': str(uuid.UUID(bytes=bytes(ctap.get_info().aaguid))), 'found': asked(*others, own), 'other': asked(*others)}))
`;

/** Debian's Python alone has the module: another `python3` may come first in the path. */
const isThere = Boolean(process.env.CI) || existsSync('/usr/lib/python3/dist-packages/fido2/__init__.py');
const suite = isThere ? describe : describe.skip;

suite('python3-fido2 over commands of smart cards (skipped without it: apt-get install python3-fido2)', () => {
  test('reports the model, and has the credential, as devmgr does', async () => {
    const program = fidoCard({ authenticator: new TestAuthenticator({ root: authenticatorRoot(), aaguid: AAGUID }) });
    const card = {
      transmit: async (apdu: Uint8Array) => new Uint8Array(program.answer(apdu)!),
      close: async () => undefined,
    };
    const ids = { vendorId: '', productId: '', descriptorSerial: null };
    const view = { ...ids, openFido: null, openOtp: null, openCard: async () => card };
    const signal = new AbortController().signal;
    const clientDataHash = new Uint8Array(32);
    const request = {
      method: 'fido',
      hostPublicKey: new Uint8Array(),
      clientDataHash,
      relyingParty: REGISTRY,
    } as const;
    const key = { view, firmwareVersion: null, beforeScp11b: () => undefined };
    const made = await proveKey(key, request, { signal, onTouch: () => undefined });
    if (made.method !== 'fido') throw new Error('no credential');
    const at = Buffer.from(made.attestationObject).indexOf(Buffer.from(AAGUID.replaceAll('-', ''), 'hex'));
    const id = made.attestationObject.slice(at + 18, at + 50);
    const found = await recognizeKey(view, { relyingParty: REGISTRY, clientDataHash, credentials: [id] }, signal);
    expect(found?.credentialId).toEqual(id);
    expect(Buffer.from((await fidoCardInfo(card, signal))!.aaguid!).toString('hex')).toBe(AAGUID.replaceAll('-', ''));

    const python = spawn('/usr/bin/python3', ['-c', PYTHON, toHex(id), REGISTRY], { stdio: ['pipe', 'pipe', 'pipe'] });
    let [result, errors] = ['', ''];
    python.stderr.setEncoding('utf8').on('data', text => {
      errors += text;
    });
    createInterface({ input: python.stdout }).on('line', line => {
      if (line.startsWith('{')) result = line;
      else python.stdin.write(`${toHex(program.answer(fromHex(line))!)}\n`);
    });
    await once(python, 'close');
    expect(errors).toBe('');
    expect(JSON.parse(result)).toEqual({
      aaguid: AAGUID,
      found: Buffer.from(id).toString('hex'),
      other: expect.stringMatching(/46|NO_CREDENTIALS/),
    });
    expect(program.parts.some(part => part.startsWith('9010'))).toBe(true);
  });
});
