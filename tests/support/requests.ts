/** A valid request for each operation. */
import type { RouteName } from '../../src/contract/endpoints.ts';
import { Page } from './browser.ts';
import { adminPassword, type TestDaemon } from './daemon.ts';
import { activation, backUp, data, deviceIn, form, packageForm, registration, upload } from './fleet.ts';
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
    revokeToken: async () => ({ path: `/api/tokens/${(await serviceToken(daemon())).tokenId}/revoke` }),
    setPassword: async () => ({ path: `${await otherUser()}/password`, body: { password: 'another password' } }),
    logoutUser: async () => ({ path: `${await otherUser()}/logout` }),
    listEvents: async () => ({}),
    getStatistics: async () => ({}),
    exportDevices: async () => ({}),
    listKeys: async () => ({}),
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
    createProofChallenge: async () => ({}),
    submitProof: async token => {
      const options = token === undefined ? {} : { token };
      const made = await daemon().call('POST', '/api/proofs/challenge', {}, options);
      const body = { serialNumber: registration().serialNumber, claims: { firmware: '5.7.4' } };
      return { path: `/api/proofs/${made.data?.proofId ?? 'none'}`, body };
    },
    judgeProofsAgain: async () => ({ body: {} }),
    importTrust: async () => ({ raw: form({}, { name: 'root.der', content: new Uint8Array(makeRoot('Root').der) }) }),
    listTrust: async () => ({}),
    removeTrust: async () => {
      const file = { name: 'root.der', content: new Uint8Array(makeRoot('Root').der) };
      const { certificates } = data(await daemon().call('POST', '/api/trust', undefined, { raw: form({}, file) }));
      return { path: `/api/trust/${certificates[0].fingerprint}/remove` };
    },
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
    requireKeyOfUser: async () => ({ path: `${await otherUser()}/require-key`, body: { required: false } }),
    showSignInPolicy: async () => ({}),
    setSignInPolicy: async () => ({ body: { requireKey: [] } }),
    showProofPolicy: async () => ({}),
    setProofPolicy: async () => ({ body: { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] } }),
  } satisfies Partial<Record<RouteName, (token?: string) => Promise<Sent>>>;
}
