/**
 * Facts about each operation that a client needs without its schemas. Imports nothing: the command line reads it at every start. The
 * files of the resources describe the operations under the same names.
 */

/** Description of an operation without its schemas. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `{name}` for each path parameter. */
  readonly path: string;
  /** Present if no token is needed, wherever the request comes from. */
  readonly access?: 'public';
  /** Present if the response is a credential, concerns one or is soon outdated: it is never stored, so an Idempotency-Key is ignored. */
  readonly neverReplayed?: true;
  /** Present if the response to a success is a file or a page, not the envelope. */
  readonly withoutEnvelope?: true;
  /** Fields that `data` of a success has at least, or nothing can be shown. `list.id` is a field of each item of `list`. */
  readonly returns: readonly string[];
}

type EndpointOptions = Pick<Endpoint, 'access' | 'neverReplayed' | 'withoutEnvelope'>;
const endpoint =
  <const M extends Endpoint['method']>(method: M) =>
  <const P extends string, const R extends readonly string[], const O extends EndpointOptions = object>(
    path: P,
    returns: R,
    options: O = {} as O,
  ) => ({ method, path, returns, ...options });
const [get, post, put] = [endpoint('GET'), endpoint('POST'), endpoint('PUT')];

/**
 * The operations: the path of each, and what `data` of a success has at least. Each name is the `operationId` in the OpenAPI
 * document. The documents have them in this order.
 */
export const endpoints = {
  login: post('/api/auth/login', ['token', 'expireTime', 'user'], { access: 'public', neverReplayed: true }),
  refreshToken: post('/api/auth/refresh', ['token'], { neverReplayed: true }),
  createSignInCode: post('/api/auth/codes', ['code', 'expireTime'], { neverReplayed: true }),
  exchangeSignInCode: post('/api/auth/exchange', ['token', 'expireTime', 'user'], {
    access: 'public',
    neverReplayed: true,
  }),
  getSignInOptions: post('/api/auth/webauthn/options', [], { access: 'public', neverReplayed: true }),
  signInWithKey: post('/api/auth/webauthn/login', ['token', 'expireTime', 'user'], {
    access: 'public',
    neverReplayed: true,
  }),
  getKeyRegistrationOptions: post('/api/auth/webauthn/register/options', [], { neverReplayed: true }),
  registerKey: post('/api/auth/webauthn/register', [], { neverReplayed: true }),
  createTerminalLogin: post('/api/auth/terminal', ['requestId', 'userCode', 'secret', 'expireTime'], {
    access: 'public',
    neverReplayed: true,
  }),
  showTerminalLogin: post('/api/auth/terminal/show', [], { neverReplayed: true }),
  approveTerminalLogin: post('/api/auth/terminal/approve', [], { neverReplayed: true }),
  takeTerminalLogin: post('/api/auth/terminal/token', ['state'], { access: 'public', neverReplayed: true }),
  getStepUpOptions: post('/api/auth/step-up/options', [], { neverReplayed: true }),
  stepUp: post('/api/auth/step-up', ['token'], { neverReplayed: true }),
  getSession: get('/api/auth/session', ['user', 'sso']),
  showSso: get('/api/sso', ['enabled', 'issuer', 'name'], { access: 'public' }),
  setSso: put('/api/sso', ['enabled']),
  showSsoSettings: get('/api/sso/settings', ['enabled', 'roles']),
  testSso: post('/api/sso/test', ['ok', 'findings'], { neverReplayed: true }),
  startSso: post('/api/auth/sso/start', ['url', 'state'], { access: 'public', neverReplayed: true }),
  finishSso: get('/api/auth/sso/callback', [], { access: 'public', withoutEnvelope: true }),
  showSsoTerminal: post('/api/auth/sso/terminal', ['account', 'url'], { access: 'public', neverReplayed: true }),
  takeSso: post('/api/auth/sso/callback', ['token', 'expireTime', 'user'], { access: 'public', neverReplayed: true }),
  startSsoDevice: post(
    '/api/auth/sso/device',
    ['deviceCode', 'userCode', 'verificationUri', 'interval', 'expireTime'],
    { access: 'public', neverReplayed: true },
  ),
  pollSsoDevice: post('/api/auth/sso/device/poll', ['state'], { access: 'public', neverReplayed: true }),
  logoutSso: post('/api/auth/sso/logout', [], { access: 'public', neverReplayed: true }),
  registerDevice: post('/api/devices/register', ['deviceId', 'activationCode']),
  batchRegisterDevices: post('/api/devices/batch-register', ['results']),
  batchUpdateDevices: post('/api/devices/batch-update', ['results']),
  activateDevice: post('/api/devices/activate', ['deviceId', 'status']),
  lockDevice: post('/api/devices/{deviceId}/lock', ['deviceId', 'status']),
  unlockDevice: post('/api/devices/{deviceId}/unlock', ['deviceId', 'status']),
  deactivateDevice: post('/api/devices/{deviceId}/deactivate', ['deviceId', 'status']),
  shipDevice: post('/api/devices/{deviceId}/shipped', ['deviceId', 'shippedAt']),
  listDevices: get('/api/devices/list', ['list', 'pagination', 'list.deviceId', 'list.serialNumber']),
  exportDevices: get('/api/devices/export', [], { withoutEnvelope: true }),
  getDevice: get('/api/devices/{deviceId}', ['deviceId', 'serialNumber', 'status']),
  updateDevice: put('/api/devices/{deviceId}', ['deviceId']),
  generateActivationCode: post('/api/devices/generate-activation-code', ['deviceId', 'activationCode']),
  recordUsage: post('/api/devices/{deviceId}/usage', ['deviceId']),
  uploadAppVersion: post('/api/app-versions/upload', ['versionId', 'sha256']),
  listAppVersions: get('/api/app-versions/list', ['list', 'pagination', 'list.versionId']),
  getLatestAppVersion: get('/api/app-versions/latest', ['latest']),
  getAppVersion: get('/api/app-versions/{versionId}', ['versionId', 'sha256', 'fileName']),
  downloadAppVersion: get('/api/app-versions/{versionId}/download', [], { withoutEnvelope: true }),
  createBackup: post('/api/devices/{deviceId}/backups', ['backupId']),
  listBackups: get('/api/devices/{deviceId}/backups/list', ['list', 'pagination', 'list.backupId']),
  downloadBackup: get('/api/devices/{deviceId}/backups/{backupId}/download', [], { withoutEnvelope: true }),
  restoreBackup: post('/api/devices/{deviceId}/backups/{backupId}/restore', ['backupId']),
  createUser: post('/api/users', ['id', 'username']),
  listUsers: get('/api/users/list', ['list', 'pagination', 'list.id', 'list.username']),
  getOwnUser: get('/api/users/me', ['id', 'username', 'role']),
  updateUser: put('/api/users/{userId}', ['id', 'username']),
  setPassword: post('/api/users/{userId}/password', ['id', 'username']),
  logoutUser: post('/api/users/{userId}/logout', ['id', 'username']),
  listKeysOfUser: get('/api/users/{userId}/passkeys/list', []),
  removeKeyOfUser: post('/api/users/{userId}/passkeys/{passkeyId}/remove', [], { neverReplayed: true }),
  allowRegistration: post('/api/users/{userId}/allow-registration', ['until']),
  requireKeyOfUser: post('/api/users/{userId}/require-key', [], { neverReplayed: true }),
  listPeople: get('/api/people/list', ['list', 'pagination', 'list.personId', 'list.userName']),
  createPerson: post('/api/people', ['personId', 'userName']),
  listHeldPeople: get('/api/people/held', ['list', 'list.personId', 'list.userName']),
  listRefusedRequests: get('/api/people/refused', ['list', 'pagination', 'list.at', 'list.source', 'list.reason']),
  listProvisioning: get('/api/people/log', ['list', 'pagination', 'list.at', 'list.source', 'list.outcome']),
  listUnmatched: get('/api/people/unmatched', [
    'list',
    'pagination',
    'list.deviceId',
    'list.userId',
    'list.candidates',
  ]),
  importPeople: post('/api/people/import', ['results']),
  matchPeople: post('/api/people/match', ['total', 'success', 'failed', 'results']),
  comparePeople: post('/api/people/drift', ['problem', 'total', 'list'], { neverReplayed: true }),
  undoPeople: post('/api/people/undo', ['total', 'list', 'next'], { neverReplayed: true }),
  releasePeople: post('/api/people/release', ['released', 'locked']),
  countLeftovers: get('/api/people/leftovers', ['activeDevices', 'tokens']),
  checkPeople: get('/api/people/check', ['devices', 'tokens']),
  listCases: get('/api/people/cases', ['list', 'pagination', 'list.personId', 'list.opened', 'list.open']),
  showCase: get('/api/people/{personId}/case', ['opened', 'items']),
  keepCaseItem: post('/api/people/{personId}/case/keep', ['opened', 'items']),
  closeCase: post('/api/people/{personId}/case/close', ['opened', 'items']),
  reportPerson: get('/api/people/{personId}/report', ['personId', 'complete', 'person', 'events']),
  erasePerson: post('/api/people/{personId}/erase', ['personId', 'erasedAt', 'remains']),
  getPersonAccess: get('/api/people/{personId}/access', []),
  getPerson: get('/api/people/{personId}', ['personId', 'userName', 'active']),
  personLeaves: post('/api/people/{personId}/leave', ['locked']),
  personReturns: post('/api/people/{personId}/return', ['lockedDevices']),
  showDirectory: get('/api/directory', ['enabled', 'lastRun']),
  setDirectory: put('/api/directory', ['enabled']),
  testDirectory: post('/api/directory/test', ['ok', 'findings'], { neverReplayed: true }),
  syncDirectory: post('/api/directory/sync', ['counts', 'list'], { neverReplayed: true }),
  createToken: post('/api/tokens', ['tokenId', 'token', 'expiresAt'], { neverReplayed: true }),
  listTokens: get('/api/tokens/list', ['list', 'pagination', 'list.tokenId', 'list.name']),
  adoptToken: post('/api/tokens/{tokenId}/adopt', ['tokenId', 'name'], { neverReplayed: true }),
  revokeToken: post('/api/tokens/{tokenId}/revoke', ['tokenId', 'name'], { neverReplayed: true }),
  createProofChallenge: post('/api/proofs/challenge', ['proofId', 'challenge', 'registryId', 'ephemeralPublicKey']),
  judgeProofsAgain: post('/api/proofs/judge-again', ['judged', 'changed', 'next']),
  submitProof: post('/api/proofs/{proofId}', ['proof']),
  importTrust: post('/api/trust', ['metadata', 'certificates', 'warnings']),
  listTrust: get('/api/trust/list', ['metadata', 'certificates']),
  removeTrust: post('/api/trust/{fingerprint}/remove', ['fingerprint']),
  createIdentityChallenge: post('/api/identity/challenge', ['identityId', 'challenge', 'relyingParty', 'number']),
  listIdentityCandidates: post('/api/identity/candidates', ['relyingParty', 'list', 'next']),
  bindIdentity: post('/api/identity/{identityId}/bind', ['deviceId', 'serialNumber']),
  proveIdentity: post('/api/identity/{identityId}/prove', ['deviceId', 'serialNumber', 'touched']),
  showProofPolicy: get('/api/policies/proof', ['requiredGrade', 'allowedAaguids', 'leastFirmware']),
  setProofPolicy: put('/api/policies/proof', ['requiredGrade', 'allowedAaguids', 'leastFirmware']),
  showSignInPolicy: get('/api/policies/sign-in', []),
  setSignInPolicy: put('/api/policies/sign-in', []),
  listProviders: get('/api/providers/list', ['list', 'list.providerId', 'list.name']),
  createProvider: post('/api/providers', ['providerId', 'name']),
  testProvider: post('/api/providers/{providerId}/test', ['reachable'], { neverReplayed: true }),
  reconcileProvider: post('/api/providers/{providerId}/reconcile', ['onlyHere', 'onlyThere', 'otherPerson'], {
    neverReplayed: true,
  }),
  setProviderSecret: post('/api/providers/{providerId}/secret', ['providerId']),
  removeProvider: post('/api/providers/{providerId}/remove', ['removed']),
  listCredentials: get('/api/devices/{deviceId}/credentials', []),
  startCredential: post('/api/devices/{deviceId}/credentials', ['credentialId', 'origin', 'options'], {
    neverReplayed: true,
  }),
  finishCredential: post('/api/devices/{deviceId}/credentials/{credentialId}', ['credentialId', 'createdAt'], {
    neverReplayed: true,
  }),
  removeCredential: post('/api/devices/{deviceId}/credentials/{credentialId}/remove', ['credentialId', 'removedAt']),
  showKeyReset: get('/api/devices/{deviceId}/reset', ['credentials']),
  recordKeyReset: post('/api/devices/{deviceId}/reset', ['credentials']),
  storePin: post('/api/devices/{deviceId}/pin', ['storedAt']),
  readPin: get('/api/devices/{deviceId}/pin', ['sealed', 'storedAt']),
  showPinPolicy: get('/api/policies/pin', ['recipients']),
  setPinPolicy: put('/api/policies/pin', ['recipients']),
  showPeoplePolicy: get('/api/policies/people', ['personsRequired']),
  setPeoplePolicy: put('/api/policies/people', ['personsRequired']),
  createWebhook: post('/api/webhooks', ['webhookId', 'url', 'secret'], { neverReplayed: true }),
  listWebhooks: get('/api/webhooks/list', ['list', 'list.webhookId', 'list.url']),
  testWebhook: post('/api/webhooks/{webhookId}/test', ['webhookId', 'delivered'], { neverReplayed: true }),
  disableWebhook: post('/api/webhooks/{webhookId}/disable', ['webhookId', 'url']),
  enableWebhook: post('/api/webhooks/{webhookId}/enable', ['webhookId', 'url']),
  removeWebhook: post('/api/webhooks/{webhookId}/remove', ['webhookId']),
  webhookDeliveries: get('/api/webhooks/{webhookId}/deliveries', ['list', 'list.eventId', 'list.at']),
  replayWebhookDelivery: post('/api/webhooks/{webhookId}/deliveries/{deliveryId}/replay', ['webhookId', 'delivered'], {
    neverReplayed: true,
  }),
  createReceipt: post('/api/receipts', ['receiptId', 'challenge', 'text', 'credentials']),
  submitReceipt: post('/api/receipts/{receiptId}', ['receiptId']),
  listReceipts: get('/api/receipts/list', ['list', 'pagination', 'list.receiptId']),
  getReceipt: get('/api/receipts/{receiptId}', ['receiptId', 'text', 'publicKey']),
  listOwnDevices: get('/api/me/devices', ['list', 'list.deviceId', 'list.status']),
  listOwnDeviceEvents: get('/api/me/devices/{deviceId}/events', ['list', 'list.type']),
  reportLost: post('/api/me/devices/{deviceId}/lost', ['deviceId', 'status']),
  confirmReceived: post('/api/me/devices/{deviceId}/received', ['receiptId', 'receivedAt'], {
    neverReplayed: true,
  }),
  listKeys: get('/api/hardware/keys', ['list', 'drivers', 'list.keyId', 'list.serialNumber']),
  issueKey: post('/api/hardware/keys/{keyId}/issue', ['response', 'problem'], { neverReplayed: true }),
  identifyKey: post('/api/hardware/keys/{keyId}/identify', ['credentialId', 'problem'], { neverReplayed: true }),
  proveKey: post('/api/hardware/keys/{keyId}/prove', ['claims', 'problem'], { neverReplayed: true }),
  signReceipt: post('/api/hardware/keys/{keyId}/sign', ['assertion', 'problem'], { neverReplayed: true }),
  decide: post('/api/decisions', ['decisions'], { neverReplayed: true }),
  listSshKeys: get('/api/decisions/ssh-keys/{userName}', ['keys']),
  getStatistics: get('/api/statistics', ['total', 'byStatus', 'byType', 'byManufacturer', 'registrations']),
  listEvents: get('/api/events', ['list', 'head', 'list.type', 'list.data']),
  streamNotifications: get('/api/ws/notifications', []),
  getHealth: get('/api/health', ['service', 'version'], { access: 'public' }),
  getSwaggerPage: get('/api/swagger-ui.html', [], { access: 'public', withoutEnvelope: true }),
  getOpenapiJson: get('/api/openapi.json', [], { access: 'public', withoutEnvelope: true }),
  getOpenapiYaml: get('/api/openapi.yaml', [], { access: 'public', withoutEnvelope: true }),
  getPostmanCollection: get('/api/postman.json', [], { access: 'public', withoutEnvelope: true }),
  getMetrics: get('/metrics', [], { withoutEnvelope: true }),
} as const;

/** Name of an operation: its `operationId`. */
export type RouteName = keyof typeof endpoints;
