/** Who may open a notification stream, and which events it carries. */
import type { IncomingHttpHeaders } from 'node:http';
import { parse } from 'node:querystring';
import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { eventTypes } from '../../src/contract/event-types.ts';
import { routes } from '../../src/contract/routes.ts';
import { compileReader } from '../../src/contract/validate.ts';
import type { CallerRole } from '../../src/contract/values.ts';
import { readDevice } from '../devices/lookups.ts';
import { refuseNullInUrl } from '../http/null-text.ts';
import { bearer, keyMissing } from '../http/operation.ts';
import { checkQuery } from '../http/strict-query.ts';
import { type Caller, refuseConfined } from '../requests/context.ts';
import type { RequestClient, TokenCheck } from '../requests/token-check.ts';
import type { SignInCodes } from '../sign-in/codes.ts';
import type { Reader } from '../store/store.ts';
import { eventTypesIn } from './events.ts';
import { hardwareTypes, journalTypes, type TypeSet, typeSet } from './frames.ts';
import type { Hub } from './hub.ts';

/** Checks of a request for a stream. */
export interface AdmissionParts {
  readonly hub: Pick<Hub, 'ready' | 'reaches'>;
  readonly tokens: Pick<TokenCheck, 'check'>;
  /** Absent without a registry: then no code is valid. */
  readonly codes?: Pick<SignInCodes, 'openStream'>;
  readonly store: Pick<Reader, 'device'>;
}

/** An admitted request for a stream. */
export interface StreamAdmission {
  readonly caller: Caller;
  /** Checks again whether the token, or the login that made the code, is still valid. Refuses with 1004 or 1005. */
  readonly check: () => Promise<Caller>;
  readonly wanted: TypeSet;
  /** Number of the device whose events are wanted; null for those of all. */
  readonly device: number | null;
  /** Id of the last event that the client has; null for live events only. */
  readonly since: number | null;
}

const readQuery = compileReader(routes.streamNotifications.query, 'text');

/** Checks a request for a stream. Refuses with 1004 or 1005, then 1001, then 2007, then 2001. */
export async function admit(
  request: { readonly url?: string | undefined; readonly headers: IncomingHttpHeaders },
  client: RequestClient,
  parts: AdmissionParts,
): Promise<StreamAdmission> {
  const { hub, store } = parts;
  const [, text = ''] = splitUrl(request.url);
  const query = parse(text);
  const check = await credential(query, request, client, parts);
  const caller = await check();
  if (caller.session?.mustRegisterKey) throw keyMissing();
  refuseConfined(caller);
  refuseNullInUrl(text, { query });
  checkQuery(routes.streamNotifications, { headers: request.headers, query });
  const result = readQuery(query);
  if (!result.ok) throw new ApiError(Code.parameterError, result.message, null, result.details);
  // An empty value is probably a mistake; without since, the client would miss events silently.
  if (query.since === '') throw inputError('since', 'must be a whole number of at least 0');
  const { deviceId } = result.value;
  const wanted = wantedBy(caller, result.value.types, deviceId !== undefined);
  const device = deviceId === undefined ? null : (await readDevice(store, deviceId)).number;
  await hub.ready();
  const since = result.value.since ?? null;
  if (since !== null && !(await hub.reaches(since)))
    throw inputError('since', `is ahead of the log: no event has the id ${since} yet`);
  return { caller, check, wanted, device, since };
}

/** The check of the token or code of a request. A code is used up by it, and goes before a token. */
async function credential(
  query: ReturnType<typeof parse>,
  request: { readonly headers: IncomingHttpHeaders },
  client: RequestClient,
  { tokens, codes }: AdmissionParts,
): Promise<() => Promise<Caller>> {
  if (typeof query.code === 'string' && codes) return codes.openStream(query.code, client);
  const token = typeof query.token === 'string' && query.token ? query.token : bearer(request);
  return () => tokens.check(token, client);
}

/** Path and query of a request's target. */
export function splitUrl(url = ''): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** Refuses with 2007 people who see only their own keys. */
export function refuseHolder(role: CallerRole): void {
  if (role === 'HOLDER') throw new ApiError(Code.noPermission, 'the role HOLDER is not allowed to do this');
}

function wantedBy({ role }: Caller, types: string | undefined, ofDevice: boolean): TypeSet {
  refuseHolder(role);
  const allowed = role === 'LOCAL' ? hardwareTypes : typeSet(eventTypes);
  const wanted = types === undefined ? allowed : typeSet(eventTypesIn(types, role === 'ADMIN'));
  if (wanted & ~allowed || (ofDevice && role === 'LOCAL'))
    throw new ApiError(Code.noPermission, 'the role LOCAL receives only KEY_ATTACHED and KEY_DETACHED');
  return ofDevice ? wanted & journalTypes : wanted;
}
