/** How an operation of the interface is described. Validation, client types, OpenAPI and Postman are derived from it. */
import type { Static, TObject, TSchema } from 'typebox';
import { Code, type ErrorCode } from './codes.ts';
import { type Endpoint, endpoints, type RouteName } from './endpoints.ts';
import type { LimitScope } from './limits.ts';
import { type CallerRole, roles, type TokenPermission } from './values.ts';

/** Who may call an operation. */
type Access =
  /** Anyone, without a token. */
  | 'public'
  /** Anyone on the machine of the daemon, without a token; from elsewhere any user. */
  | 'loopback'
  /** Callers whose token has one of these roles. */
  | readonly CallerRole[];

/** The file in a multipart form. */
export interface FilePart {
  /** Name of the form field. */
  readonly field: string;
  /** A file of exactly this size is accepted. */
  readonly maxBytes: number;
  readonly description: string;
}

/** One operation of the interface. */
export interface RouteShape extends Omit<Endpoint, 'access'> {
  readonly id: RouteName;
  /** The group of the operation in OpenAPI. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Present if the operation is an addition to the published interface. */
  readonly extension?: true;
  readonly access: Access;
  /** Path parameter that holds a user id: that user may call the operation whatever `access` is. */
  readonly ownUser?: string;
  /** Present if only people may call the operation: a service token is refused with 2007, whatever its role. */
  readonly peopleOnly?: true;
  /** Present if a service token needs this in its `may`: without it, it is refused with 2007, whatever its role. */
  readonly tokenMay?: TokenPermission;
  /** Present if the role of a service token does not matter: of one that has `tokenMay`, or of any if that is absent. */
  readonly anyTokenRole?: true;
  /** Present if sessions that step up need a recent sign-in for the operation: see `--step-up`. */
  readonly stepUp?: true;
  /** Present if a user who must still register a security key may call the operation. */
  readonly withoutKey?: true;
  /** The window in which a request counts; null if the operation is not limited. */
  readonly limit: LimitScope | null;
  readonly params?: TObject;
  readonly query?: TObject;
  /** Present if an empty value and an unknown parameter of the query are refused: the operation works on all that the query selects. */
  readonly strictQuery?: true;
  readonly body?: TObject;
  /** Present if the body may be absent. */
  readonly bodyOptional?: true;
  /** Largest JSON body in bytes; `sizes.body` if absent. */
  readonly bodyLimit?: number;
  /** Most members and elements of the JSON body; `bodyBounds.values` if absent. */
  readonly bodyValues?: number;
  /** Member of the body with the items of a batch: only the invalid items fail. */
  readonly batchOf?: string;
  /** Form fields other than the file; present on multipart operations. */
  readonly form?: TObject;
  readonly file?: FilePart;
  /** `data` of the envelope on success. */
  readonly data?: TSchema;
  /** Present if a successful response is not an envelope. `also`: a second content type that it may have. */
  readonly raw?: {
    readonly contentType: string;
    readonly also?: string;
    /** HTTP status, if it leads to another address. */
    readonly status?: 303;
    readonly description: string;
  };
  /** Present if the operation is a WebSocket upgrade; `data` is then the shape of a frame. */
  readonly websocket?: true;
  /** Present if HTTP 503 has code 500 and the data of a success: what it means. */
  readonly unready?: string;
  /** Business codes other than those that every operation has (see `errorsOf`). */
  readonly errors: readonly ErrorCode[];
  readonly example?: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly form?: Readonly<Record<string, unknown>>;
    readonly data?: unknown;
  };
}

/** Description of an operation in the file of its resource; the rest is its endpoint. */
type Description = Omit<RouteShape, 'id' | 'access' | 'tag' | 'limit' | 'errors' | keyof Endpoint> & {
  /** Absent if the endpoint is public. */
  readonly access?: Access;
  /** Absent if all operations of the resource have the same. */
  readonly tag?: string;
  /** Absent for that of the method: `query` for GET, else `modify`. */
  readonly limit?: LimitScope | null;
  /** Absent if there are none. */
  readonly errors?: readonly ErrorCode[];
};
type Descriptions = { readonly [N in RouteName]?: Description };
type DescribedRoutes<T, S> = {
  readonly [N in keyof T & RouteName]: { readonly id: N } & Pick<RouteShape, 'tag' | 'limit' | 'errors'> &
    (typeof endpoints)[N] &
    S &
    T[N];
};

/** An operation of an ADMIN. */
export const adminOnly = { access: ['ADMIN'] } as const;
/** An operation of an ADMIN, but not of a service token. */
export const adminPerson = { ...adminOnly, peopleOnly: true } as const;
/** A change of who may do what: it also needs a recent sign-in where sessions step up. */
export const administration = { ...adminPerson, stepUp: true } as const;

/** A policy, which all roles can see. */
export const shownPolicy = <const P extends TObject>(policy: P) =>
  ({ access: roles, tokenMay: 'policies', data: policy }) as const;
/** A policy, which an ADMIN replaces as a whole. */
export const replacedPolicy = <const P extends TObject>(policy: P) =>
  ({ ...adminOnly, tokenMay: 'policies', stepUp: true, body: policy, data: policy }) as const;

/** Describes operations of a resource by their names. Keeps the literal types, from which the types below are derived. */
export const operations = <const T extends Descriptions>(tag: string, descriptions: T) =>
  described(descriptions, { tag });

/** Describes operations that are additions to the published interface. */
export const additions = <const T extends Descriptions>(tag: string, descriptions: T) =>
  described(descriptions, { tag, extension: true });

function described<T extends Descriptions, const S extends Pick<RouteShape, 'tag' | 'extension'>>(
  descriptions: T,
  shared: S,
): DescribedRoutes<T, S> {
  const found = Object.entries(descriptions).map(([id, description]) => {
    // The console is built with the endpoints that it uses, and without the others.
    const endpoint: Endpoint | undefined = endpoints[id as RouteName];
    const limit = endpoint?.method === 'GET' ? 'query' : 'modify';
    return [id, { id, ...endpoint, limit, errors: [], ...shared, ...description }];
  });
  return Object.fromEntries(found) as DescribedRoutes<T, S>;
}

type Part<R, K extends string> = R extends { readonly [P in K]: infer S extends TSchema } ? Static<S> : undefined;
/** Path parameters of an operation after validation; undefined if it has none. */
export type ParamsOf<R> = Part<R, 'params'>;
/** Query parameters of an operation after validation; undefined if it has none. */
export type QueryOf<R> = Part<R, 'query'>;
/** JSON body of an operation after validation; undefined if it has none. */
export type BodyOf<R> = Part<R, 'body'>;
/** Form fields of an operation after validation; undefined if it has none. */
export type FormOf<R> = Part<R, 'form'>;
/** `data` of a successful response; undefined if the response is not an envelope. */
export type DataOf<R> = Part<R, 'data'>;

type Member<K extends string, V> = V extends undefined ? unknown : { readonly [P in K]: V };
type Query<V> = V extends undefined ? unknown : { readonly query?: Partial<V> };
/** Input of an operation by a client: those of `params`, `query` and `body` that it has. */
export type InputOf<R> = Member<'params', ParamsOf<R>> & Query<QueryOf<R>> & Member<'body', BodyOf<R>>;

/** Whether an operation accepts the header Idempotency-Key: every write does, except uploads and those that are never replayed. */
export const acceptsKey = (shape: RouteShape): boolean =>
  shape.method !== 'GET' && shape.form === undefined && shape.neverReplayed === undefined;

/** The version of a device in the headers ETag and If-Match. */
export const versionTags = /^"[1-9][0-9]{0,14}"$/;

/** Whether an operation changes one device, and accepts the header If-Match with the version that the change is based on. */
export const acceptsVersion = (shape: RouteShape): boolean => shape.errors.includes(412);

/** Whether a response is about one device, and has its version: the header ETag has it too. */
export function showsVersion({ data }: RouteShape): boolean {
  const { properties = {} } = (data ?? {}) as Partial<TObject>;
  return 'deviceId' in properties && 'version' in properties;
}

/** Whether an operation shows records, a page of them or settings: its response has an ETag, and is not sent to a client that names it. */
export const hasEntityTag = ({ method, raw, access, websocket }: RouteShape): boolean =>
  method === 'GET' && raw === undefined && websocket === undefined && access !== 'public';

/** Every business code that an operation can return, ascending: its own and those of token, limit and input checks. */
export function errorsOf(shape: RouteShape): ErrorCode[] {
  const found = new Set<ErrorCode>(shape.errors);
  if (shape.access !== 'public')
    for (const code of [Code.tokenInvalid, Code.tokenExpired, Code.noPermission] as const) found.add(code);
  if (shape.limit) found.add(429);
  if (shape.query || shape.strictQuery || shape.body || shape.form || acceptsKey(shape)) found.add(Code.parameterError);
  found.add(500);
  return [...found].sort((a, b) => a - b);
}
