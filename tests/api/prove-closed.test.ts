/** A client that closes its request for a proof cancels it at the key: from HTTP down to the packets of CTAPHID. */
import { type ClientRequest, request } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachedKeys, type KeySource } from '../../daemon/hardware/attached-keys.ts';
import type { ProofOutput } from '../../daemon/hardware/proofs.ts';
import { stationOperations } from '../../daemon/hardware/routes.ts';
import { createHidDriver } from '../../drivers/hid/index.ts';
import { FakeHid } from '../support/fake-hid.ts';
import { FidoKey } from '../support/fido-key.ts';
import { type OperationServer, startOperations } from '../support/operation-server.ts';
import { openTemporary } from '../support/sqlite.ts';
import { authenticatorRoot, TestAuthenticator } from '../support/test-authenticator.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {} };
const AAGUID = '11111111-2222-3333-4444-555555555555';
const SERIAL = 'FT-0001';

let temporary: Awaited<ReturnType<typeof openTemporary>>;
let system: FakeHid;
let keys: AttachedKeys;
let fido: FidoKey;
let server: OperationServer;
let proofs: Promise<ProofOutput>[];

beforeEach(async () => {
  temporary = await openTemporary();
  system = new FakeHid();
  proofs = [];
  fido = new FidoKey({ authenticator: new TestAuthenticator({ root: authenticatorRoot(), aaguid: AAGUID }) });
  const { store } = temporary;
  keys = new AttachedKeys({
    drivers: [createHidDriver({ system })],
    store,
    hub: { publish: () => {} },
    now: Date.now,
    log,
  });
  server = await startOperations(
    store,
    stationOperations({ keys: recorded(keys) } as Parameters<typeof stationOperations>[0]),
  );
  system.plug({ serial: SERIAL, interfaces: { fido } });
  await keys.start();
});
afterEach(async () => {
  await server.stop();
  await keys.stop();
  await temporary.cleanup();
  expect(system.handles).toBe(0);
});

const recorded = (source: AttachedKeys): KeySource => ({
  list: () => source.list(),
  driverStatuses: () => source.driverStatuses(),
  issue: (...args) => source.issue(...args),
  sign: (...args) => source.sign(...args),
  identify: (...args) => source.identify(...args),
  prove(...args) {
    const proof = source.prove(...args);
    proofs.push(proof);
    return proof;
  },
});

const attached = async () => (await keys.list())[0]!;

/** Sends the request and does not wait for its answer. */
async function startProof(): Promise<ClientRequest> {
  const { keyId } = await attached();
  const sent = request(`${server.url}/api/hardware/keys/${keyId}/prove`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => {});
  sent.end(
    JSON.stringify({
      serialNumber: SERIAL,
      challenge: Buffer.alloc(32, 1).toString('base64url'),
      registryId: 'R-1',
      ephemeralPublicKey: Buffer.alloc(65, 4).toString('base64url'),
    }),
  );
  return sent;
}

it('a request that is closed while the key waits to be touched', async () => {
  const sent = await startProof();
  await expect.poll(async () => (await attached()).proving).toBe('touch');
  expect(fido.canceled).toBe(0);
  sent.destroy();
  await expect.poll(() => fido.canceled).toBe(1);
  expect(await proofs[0]).toMatchObject({ failure: 'aborted' });
  await expect.poll(async () => (await attached()).proving).toBeNull();
});
