/** A valid request for each operation. */
import type { RouteName } from '../../src/contract/endpoints.ts';
import { leaverBrake } from '../../src/contract/limits.ts';
import { receiptText } from '../../src/contract/receipts/text.ts';
import { Page } from './browser.ts';
import { adminPassword, type TestDaemon } from './daemon.ts';
import { activation, backUp, data, deviceIn, form, packageForm, register, registration, upload } from './fleet.ts';
import { IdentityKey, identityChallenge } from './identity-key.ts';
import { answerOf, startWebauthnServer } from './issuing-providers.ts';
import { provedDevice, receiptOf, signedBy, terms, trustReceiptKeys } from './receipt-key.ts';
import { serviceToken } from './service-token.ts';
import { SoftwareKey } from './software-key.ts';
import { makeRoot } from './test-pki.ts';

/** A request: the path if it differs from that of the operation, and its body. */
export interface Sent {
  readonly path?: string;
  readonly body?: object;
  readonly raw?: FormData;
  /** Sent to the name of this machine instead of its address: security keys need one. */
  readonly byName?: true;
}

/** Requests about providers at which keys are issued, to a stand-in that lives as long as the test. */
function issuingRequests(daemon: () => TestDaemon): Readonly<Partial<Record<RouteName, () => Promise<Sent>>>> {
  let providers = 0;
  let issued: { readonly of: TestDaemon; readonly path: string } | null = null;
  const call = async (path: string, body?: object) => data(await daemon().call('POST', path, body));
  const provider = async () => {
    // A registry has few providers.
    for (const { providerId, credentials } of data(await daemon().call('GET', '/api/providers/list')).list)
      if (credentials === 0) await call(`/api/providers/${providerId}/remove`);
    const { settings } = await startWebauthnServer();
    return { name: `provider-${++providers}`, ...settings };
  };
  const added = async (): Promise<string> => (await call('/api/providers', await provider())).providerId;
  const pinPath = async () => `/api/devices/${(await register(daemon())).deviceId}/pin`;
  const resetPath = async () => `/api/devices/${(await register(daemon())).deviceId}/reset`;
  const sealedSample = Buffer.from('age-encryption.org/v1\n').toString('base64url');
  const begun = async () => {
    const [{ deviceId }, providerId] = [await deviceIn('ACTIVE', daemon()), await added()];
    const path = `/api/devices/${deviceId}/credentials`;
    const answer = await call(path, { providerId });
    return { path: `${path}/${answer.credentialId}`, body: { response: answerOf(answer) } };
  };
  return {
    showPinPolicy: async () => ({}),
    setPinPolicy: async () => ({ body: { recipients: [] } }),
    showKeyReset: async () => ({ path: await resetPath() }),
    recordKeyReset: async () => {
      // Without a credential there is nothing to record. One device serves all requests: a registry has few providers.
      if (issued?.of !== daemon())
        issued = { of: daemon(), path: (await begun()).path.replace(/\/credentials\/.*/, '/reset') };
      await call(issued.path, { stage: 'canceled' });
      return { path: issued.path, body: { stage: 'begun', hadPin: true } };
    },
    storePin: async () => ({ path: await pinPath(), body: { sealed: sealedSample } }),
    readPin: async () => {
      const path = await pinPath();
      await call(path, { sealed: sealedSample });
      return { path };
    },
    listProviders: async () => ({}),
    createProvider: async () => ({ body: await provider() }),
    testProvider: async () => ({ path: `/api/providers/${await added()}/test` }),
    reconcileProvider: async () => ({ path: `/api/providers/${await added()}/reconcile`, body: {} }),
    setProviderSecret: async () => ({ path: `/api/providers/${await added()}/secret`, body: { secret: 'next' } }),
    removeProvider: async () => ({ path: `/api/providers/${await added()}/remove` }),
    listCredentials: async () => ({ path: `/api/devices/${(await register(daemon())).deviceId}/credentials` }),
    startCredential: async () => {
      const { deviceId } = await deviceIn('ACTIVE', daemon());
      return { path: `/api/devices/${deviceId}/credentials`, body: { providerId: await added() } };
    },
    finishCredential: begun,
    removeCredential: async () => {
      const { path, body } = await begun();
      await call(path, body);
      return { path: `${path}/remove` };
    },
  };
}

/** By operation; each call prepares what its request needs. All of them may be sent by an administrator. */
export function validRequests(
  daemon: () => TestDaemon,
): Readonly<Partial<Record<RouteName, (token?: string) => Promise<Sent>>>> {
  const device = async (state: Parameters<typeof deviceIn>[0] = 'ACTIVE') => {
    const { deviceId } = await deviceIn(state, daemon());
    return `/api/devices/${deviceId}`;
  };
  const backupPath = async () => {
    const path = await device();
    const { backupId } = data(await backUp(daemon(), path.split('/').at(-1)!));
    return `${path}/backups/${backupId}`;
  };
  const version = async () => `/api/app-versions/${data(await upload(daemon())).versionId}`;
  let users = 0;
  const otherUser = async () => `/api/users/${(await daemon().user(`other-${++users}`, 'VIEWER')).id}`;

  const personPath = async () =>
    `/api/people/${data(await daemon().call('POST', '/api/people', { userName: `person-${++users}` })).personId}`;
  const casePath = async () => {
    const path = await personPath();
    await daemon().call('POST', `${path}/leave`, { reason: 'has left' });
    return `${path}/case`;
  };
  const heldPerson = async (): Promise<string> => {
    const path = await personPath();
    const userName = `person-${users}`;
    for (let i = 0; i < leaverBrake.least + 2; i++) {
      const bound = activation(await deviceIn('INACTIVE', daemon()), userName);
      data(await daemon().call('POST', '/api/devices/activate', bound));
    }
    data(await daemon().call('POST', `${path}/leave`, { reason: 'has left' }));
    return path.split('/').at(-1)!;
  };

  // A registry has few webhooks.
  const withoutWebhooks = async () => {
    const { list } = data(await daemon().call('GET', '/api/webhooks/list'));
    for (const { webhookId } of list) await daemon().call('POST', `/api/webhooks/${webhookId}/remove`);
  };
  const webhookPath = async () => {
    await withoutWebhooks();
    // Of a type that no request makes: a delivery would make commits of its own.
    const body = { url: 'https://hooks.invalid/', types: ['APP_VERSION_UPLOADED'] };
    return `/api/webhooks/${data(await daemon().call('POST', '/api/webhooks', body)).webhookId}`;
  };

  /** The token, if its owner may ask keys. */
  const changer = async (token?: string) =>
    token !== undefined && (await daemon().call('POST', '/api/proofs/challenge', {}, { token })).code === 200
      ? token
      : undefined;
  const waitingTerminal = async () =>
    data(await daemon().call('POST', '/api/auth/terminal', { name: 'a terminal' }, { token: null })).userCode;

  return {
    refreshToken: async () => ({}),
    createSignInCode: async () => ({ body: { purpose: 'STREAM' } }),
    registerDevice: async () => ({ body: registration() }),
    batchRegisterDevices: async () => ({ body: { devices: [registration()] } }),
    activateDevice: async () => ({ body: activation(await deviceIn('INACTIVE', daemon())) }),
    lockDevice: async () => ({ path: `${await device()}/lock`, body: { reason: 'reported lost' } }),
    unlockDevice: async () => ({ path: `${await device('LOCKED')}/unlock`, body: {} }),
    deactivateDevice: async () => ({
      path: `${await device()}/deactivate`,
      body: { reason: 'worn out', confirmPassword: adminPassword },
    }),
    shipDevice: async () => ({ path: `${await device()}/shipped` }),
    listOwnDevices: async () => ({}),
    listOwnDeviceEvents: async () => ({ path: '/api/me/devices/DEV-1/events' }),
    reportLost: async () => ({ path: '/api/me/devices/DEV-1/lost', body: { reason: 'left on a train' } }),
    confirmReceived: async () => ({ path: '/api/me/devices/DEV-1/received' }),
    listDevices: async () => ({}),
    getDevice: async () => ({ path: await device() }),
    updateDevice: async () => ({ path: await device(), body: { note: 'drawer 3' } }),
    generateActivationCode: async () => {
      const { deviceId } = await deviceIn('INACTIVE', daemon());
      return { body: { deviceId, reason: 'code was lost' } };
    },
    batchUpdateDevices: async () => {
      const { deviceId } = await deviceIn('ACTIVE', daemon());
      return { body: { operation: 'LOCK', items: [{ deviceId, reason: 'audit' }] } };
    },
    recordUsage: async () => ({ path: `${await device()}/usage`, body: { durationSeconds: 1 } }),
    uploadAppVersion: async () => ({ raw: packageForm() }),
    listAppVersions: async () => ({}),
    getLatestAppVersion: async () => {
      await version();
      return { path: '/api/app-versions/latest?platform=ANDROID' };
    },
    getAppVersion: async () => ({ path: await version() }),
    downloadAppVersion: async () => ({ path: `${await version()}/download` }),
    createBackup: async () => ({
      path: `${await device()}/backups`,
      raw: form({}, { name: 'a.bak', content: 'secret' }),
    }),
    listBackups: async () => ({ path: `${await device()}/backups/list` }),
    downloadBackup: async () => ({ path: `${await backupPath()}/download` }),
    restoreBackup: async () => ({ path: `${await backupPath()}/restore` }),
    createUser: async () => ({ body: { username: `made-${++users}`, password: adminPassword, role: 'VIEWER' } }),
    listUsers: async () => ({}),
    getOwnUser: async () => ({}),
    updateUser: async () => ({ path: await otherUser(), body: { role: 'DEALER' } }),
    createToken: async () => ({ body: { name: `token-${++users}`, role: 'VIEWER', expiresInDays: 1 } }),
    listTokens: async () => ({}),
    adoptToken: async () => ({ path: `/api/tokens/${(await serviceToken(daemon())).tokenId}/adopt` }),
    revokeToken: async () => ({ path: `/api/tokens/${(await serviceToken(daemon())).tokenId}/revoke` }),
    setPassword: async () => ({ path: `${await otherUser()}/password`, body: { password: 'another password' } }),
    logoutUser: async () => ({ path: `${await otherUser()}/logout` }),
    listEvents: async () => ({}),
    getStatistics: async () => ({}),
    exportDevices: async () => ({}),
    listKeys: async () => ({}),
    issueKey: async () => {
      const [{ keyId, serialNumber }] = data(await daemon().call('GET', '/api/hardware/keys')).list;
      return { path: `/api/hardware/keys/${keyId}/issue`, body: { step: 'state', serialNumber } };
    },
    identifyKey: async () => {
      const [{ keyId }] = data(await daemon().call('GET', '/api/hardware/keys')).list;
      const relyingParty = `${'0'.repeat(32)}.devmgr.invalid`;
      return { path: `/api/hardware/keys/${keyId}/identify`, body: { step: 'name', relyingParty } };
    },
    proveKey: async () => {
      const { list } = data(await daemon().call('GET', '/api/hardware/keys'));
      return {
        path: `/api/hardware/keys/${list[0].keyId}/prove`,
        body: {
          serialNumber: list[0].serialNumber,
          challenge: Buffer.alloc(32).toString('base64url'),
          registryId: 'registry-1',
          ephemeralPublicKey: Buffer.alloc(65).toString('base64url'),
        },
      };
    },
    decide: async () => ({ body: { questions: [{ serialNumber: 'S-1' }] } }),
    listSshKeys: async () => ({ path: '/api/decisions/ssh-keys/ada' }),
    createProofChallenge: async () => ({}),
    submitProof: async token => {
      const options = token === undefined ? {} : { token };
      const made = await daemon().call('POST', '/api/proofs/challenge', {}, options);
      const body = { serialNumber: registration().serialNumber, claims: { firmware: '5.7.4' } };
      return { path: `/api/proofs/${made.data?.proofId ?? 'none'}`, body };
    },
    createIdentityChallenge: async () => ({}),
    listIdentityCandidates: async () => ({ body: { protocol: 'CTAP2' } }),
    bindIdentity: async token => {
      const asked = await identityChallenge(daemon(), await changer(token));
      const { deviceId } = await deviceIn('ACTIVE', daemon());
      const body = { deviceId, evidence: new IdentityKey().make(asked), numberSource: 'printed' };
      return { path: `/api/identity/${asked.identityId}/bind`, body };
    },
    proveIdentity: async token => {
      const key = new IdentityKey();
      await key.enroll(daemon());
      const asked = await identityChallenge(daemon(), await changer(token));
      return { path: `/api/identity/${asked.identityId}/prove`, body: key.sign(asked) };
    },
    createReceipt: async () => {
      const { deviceId } = await deviceIn('ACTIVE', daemon());
      return { body: { deviceId, kind: 'handover', terms } };
    },
    submitReceipt: async token => {
      await trustReceiptKeys(daemon());
      const { deviceId, key } = await provedDevice(daemon());
      return signedBy(daemon(), key, { deviceId }, await changer(token));
    },
    listReceipts: async () => ({}),
    getReceipt: async () => {
      await trustReceiptKeys(daemon());
      const { deviceId, key } = await provedDevice(daemon());
      return { path: `/api/receipts/${(await receiptOf(daemon(), key, { deviceId })).receiptId}` };
    },
    signReceipt: async () => {
      const { list } = data(await daemon().call('GET', '/api/hardware/keys'));
      const { serialNumber } = list[0];
      const facts = {
        receiptId: 'RCT-A',
        kind: 'handover',
        registryId: 'r',
        deviceId: 'DEV-1',
        lot: null,
        person: 'alice',
      } as const;
      const text = receiptText({ ...facts, serialNumber, name: null, date: '2026-11-23', dueAt: null, terms });
      return { path: `/api/hardware/keys/${list[0].keyId}/sign`, body: { serialNumber, text, credentials: ['AAAA'] } };
    },
    judgeProofsAgain: async () => ({ body: {} }),
    importTrust: async () => ({ raw: form({}, { name: 'root.der', content: new Uint8Array(makeRoot('Root').der) }) }),
    listTrust: async () => ({}),
    removeTrust: async () => {
      const file = { name: 'root.der', content: new Uint8Array(makeRoot('Root').der) };
      const { certificates } = data(await daemon().call('POST', '/api/trust', undefined, { raw: form({}, file) }));
      return { path: `/api/trust/${certificates[0].fingerprint}/remove` };
    },
    createPerson: async () => ({ body: { userName: `person-${++users}` } }),
    listPeople: async () => ({}),
    countLeftovers: async () => ({ path: '/api/people/leftovers' }),
    listProvisioning: async () => ({}),
    checkPeople: async () => ({ path: '/api/people/check' }),
    listCases: async () => ({ path: '/api/people/cases' }),
    showCase: async () => ({ path: await casePath() }),
    keepCaseItem: async () => {
      const personId = await heldPerson();
      const { list } = data(await daemon().call('GET', '/api/people/held'));
      const [id] = list.find((one: { personId: string }) => one.personId === personId).deviceIds;
      return { path: `/api/people/${personId}/case/keep`, body: { kind: 'device', id, reason: 'shared' } };
    },
    closeCase: async () => ({ path: `${await casePath()}/close` }),
    reportPerson: async () => ({ path: `${await personPath()}/report` }),
    erasePerson: async () => {
      const path = await casePath();
      await daemon().call('POST', `${path}/close`);
      return { path: `${path.slice(0, -'/case'.length)}/erase`, body: { confirmPassword: adminPassword } };
    },
    getPersonAccess: async () => ({ path: `${await personPath()}/access` }),
    getPerson: async () => ({ path: await personPath() }),
    personLeaves: async () => ({ path: `${await personPath()}/leave`, body: { reason: 'has left' } }),
    personReturns: async () => {
      const path = await personPath();
      await daemon().call('POST', `${path}/leave`, { reason: 'has left' });
      return { path: `${path}/return` };
    },
    listHeldPeople: async () => ({}),
    listRefusedRequests: async () => ({}),
    listUnmatched: async () => ({}),
    importPeople: async () => ({ body: { people: [{ userName: `person-${++users}` }] } }),
    matchPeople: async () => {
      const { deviceId } = await deviceIn('ACTIVE', daemon());
      return { body: { matches: [{ deviceId, personId: (await personPath()).split('/').at(-1)! }] } };
    },
    comparePeople: async () => ({ body: {} }),
    undoPeople: async () => ({ body: { requestId: 'unknown', dryRun: true } }),
    releasePeople: async () => ({ body: { personIds: [await heldPerson()] } }),
    showPeoplePolicy: async () => ({}),
    setPeoplePolicy: async () => ({ body: { personsRequired: false, leavers: 'lock', leaverDelayHours: 0 } }),
    createWebhook: async () => {
      await withoutWebhooks();
      return { body: { url: 'https://hooks.invalid/' } };
    },
    listWebhooks: async () => ({}),
    testWebhook: async () => ({ path: `${await webhookPath()}/test` }),
    disableWebhook: async () => ({ path: `${await webhookPath()}/disable` }),
    enableWebhook: async () => {
      const path = await webhookPath();
      await daemon().call('POST', `${path}/disable`);
      return { path: `${path}/enable` };
    },
    removeWebhook: async () => ({ path: `${await webhookPath()}/remove` }),
    webhookDeliveries: async () => ({ path: `${await webhookPath()}/deliveries` }),
    replayWebhookDelivery: async () => {
      await withoutWebhooks();
      const body = { url: 'https://hooks.invalid/', types: ['DEVICE_REGISTERED'] };
      const path = `/api/webhooks/${data(await daemon().call('POST', '/api/webhooks', body)).webhookId}/deliveries`;
      await register(daemon());
      for (;;) {
        const [attempt] = data(await daemon().call('GET', path)).list;
        if (attempt) return { path: `${path}/${attempt.eventId}/replay` };
      }
    },
    ...issuingRequests(daemon),
    getKeyRegistrationOptions: async () => ({ byName: true }),
    registerKey: async token => {
      const response = await new Page(daemon()).created(new SoftwareKey(), token ?? daemon().adminToken);
      return { body: { name: 'desk', response }, byName: true };
    },
    showTerminalLogin: async () => ({ body: { userCode: await waitingTerminal() } }),
    approveTerminalLogin: async () => ({ body: { userCode: await waitingTerminal() } }),
    getStepUpOptions: async () => ({ byName: true }),
    stepUp: async () => ({ body: { password: adminPassword } }),
    listKeysOfUser: async () => ({ path: `${await otherUser()}/passkeys/list` }),
    removeKeyOfUser: async () => {
      const { id, token } = await daemon().user(`other-${++users}`, 'VIEWER');
      const { passkeyId } = data(await new Page(daemon()).register(new SoftwareKey(), token));
      return { path: `/api/users/${id}/passkeys/${passkeyId}/remove` };
    },
    allowRegistration: async () => ({ path: `${await otherUser()}/allow-registration` }),
    requireKeyOfUser: async () => ({ path: `${await otherUser()}/require-key`, body: { required: false } }),
    getSession: async () => ({}),
    setSso: async () => ({ body: { enabled: false } }),
    showSsoSettings: async () => ({}),
    testSso: async () => ({}),
    showDirectory: async () => ({}),
    setDirectory: async () => ({ body: { enabled: false } }),
    testDirectory: async () => ({}),
    syncDirectory: async () => ({ body: { dryRun: true } }),
    showSignInPolicy: async () => ({}),
    setSignInPolicy: async () => ({ body: { requireKey: [] } }),
    showProofPolicy: async () => ({}),
    setProofPolicy: async () => ({ body: { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] } }),
  } satisfies Partial<Record<RouteName, (token?: string) => Promise<Sent>>>;
}
