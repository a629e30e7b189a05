/**
 * Method and path of every operation, and the fields of its answer that nothing works without. The contract says the
 * same with whole schemas; those take longer to load than a command takes to run, so they are left to the type checker,
 * which refuses a line here that the contract does not bear out.
 */
import type { DataOf } from '../../contract/define.ts';
import type { RouteName, Routes } from '../../contract/routes.ts';

type Line<N extends RouteName> = readonly [
  operation: `${Routes[N]['method']} ${Routes[N]['path']}`,
  ...fields: (string & keyof NonNullable<DataOf<Routes[N]>>)[],
];

const lines: { readonly [N in RouteName]: Line<N> } = {
  login: ['POST /api/auth/login', 'token', 'expireTime', 'user'],
  refresh: ['POST /api/auth/refresh', 'token'],
  register: ['POST /api/devices/register', 'deviceId', 'activationCode'],
  batchRegister: ['POST /api/devices/batch-register', 'results'],
  activate: ['POST /api/devices/activate', 'deviceId', 'status'],
  lock: ['POST /api/devices/{deviceId}/lock', 'deviceId', 'status'],
  unlock: ['POST /api/devices/{deviceId}/unlock', 'deviceId', 'status'],
  deactivate: ['POST /api/devices/{deviceId}/deactivate', 'deviceId', 'status'],
  listDevices: ['GET /api/devices/list', 'list', 'pagination'],
  deviceDetail: ['GET /api/devices/{deviceId}', 'deviceId', 'serialNumber', 'status'],
  updateDevice: ['PUT /api/devices/{deviceId}', 'deviceId'],
  generateActivationCode: ['POST /api/devices/generate-activation-code', 'deviceId', 'activationCode'],
  recordUsage: ['POST /api/devices/{deviceId}/usage', 'deviceId'],
  uploadApp: ['POST /api/app-versions/upload', 'versionId', 'sha256'],
  listApps: ['GET /api/app-versions/list', 'list', 'pagination'],
  latestApp: ['GET /api/app-versions/latest', 'latest'],
  showApp: ['GET /api/app-versions/{versionId}', 'versionId', 'sha256', 'fileName'],
  downloadApp: ['GET /api/app-versions/{versionId}/download'],
  createBackup: ['POST /api/devices/{deviceId}/backups', 'backupId'],
  listBackups: ['GET /api/devices/{deviceId}/backups/list', 'list', 'pagination'],
  downloadBackup: ['GET /api/devices/{deviceId}/backups/{backupId}/download'],
  restoreBackup: ['POST /api/devices/{deviceId}/backups/{backupId}/restore', 'backupId'],
  createUser: ['POST /api/users', 'id', 'username'],
  listUsers: ['GET /api/users/list', 'list', 'pagination'],
  me: ['GET /api/users/me', 'id', 'username', 'role'],
  updateUser: ['PUT /api/users/{userId}', 'id', 'username'],
  setPassword: ['POST /api/users/{userId}/password', 'id', 'username'],
  logoutUser: ['POST /api/users/{userId}/logout', 'id', 'username'],
  listKeys: ['GET /api/hardware/keys', 'list', 'drivers'],
  notifications: ['GET /api/ws/notifications'],
  health: ['GET /api/health', 'service', 'version'],
  swaggerPage: ['GET /api/swagger-ui.html'],
  openapiJson: ['GET /api/openapi.json'],
  openapiYaml: ['GET /api/openapi.yaml'],
  postmanCollection: ['GET /api/postman.json'],
  metrics: ['GET /metrics'],
};

export interface Operation {
  readonly method: string;
  /** With `{name}` for each path parameter; see `pathOf`. */
  readonly path: string;
  /** Fields that the answer has at least. */
  readonly fields: readonly string[];
}

export function operationOf(name: RouteName): Operation {
  const [operation, ...fields] = lines[name];
  const [method, path] = operation.split(' ') as [string, string];
  return { method, path, fields };
}

/** Operations that nobody has to log in for, and that no token is sent with. */
const open: ReadonlySet<RouteName> = new Set(['login', 'health']);
export const needsToken = (name: RouteName): boolean => !open.has(name);

/** Path and query of a request. A path parameter is escaped, so that a text cannot reach another operation. */
export function pathOf(
  template: string,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}
