/** How an operation of the interface is written down. Everything else (validation, client, documents) is made from this. */
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from './codes.ts';
import type { LimitScope } from './limits.ts';
import type { CallerRole } from './values.ts';

export { type CallerRole, type Role, roles } from './values.ts';

export type Access =
  /** Nobody has to log in. */
  | 'public'
  /** Nobody has to log in on this machine; from elsewhere it is a read like any other. */
  | 'loopback'
  | readonly CallerRole[];

/** A file in a multipart form. */
export interface FilePart {
  readonly field: string;
  readonly maxBytes: number;
  readonly description: string;
}

export interface RouteShape {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `{name}` for each path parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Not in the published interface, but an addition to it. */
  readonly extension?: true;
  readonly access: Access;
  /** Path parameter that holds a user id: that user may call whatever `access` says. */
  readonly ownUser?: string;
  readonly limit: LimitScope | null;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** A body may be left out. */
  readonly bodyOptional?: true;
  readonly bodyLimit?: number;
  /** Form fields beside the file; present on multipart operations. */
  readonly form?: TObject;
  readonly file?: FilePart;
  /** `data` of the envelope on success. */
  readonly data?: TSchema;
  /** An answer that is no envelope. */
  readonly raw?: { readonly contentType: string; readonly description: string };
  /** A WebSocket upgrade; `data` is then the shape of a frame. */
  readonly websocket?: true;
  /** Business codes beyond those every operation has (see `errorsOf`). */
  readonly errors: readonly ErrorCode[];
  readonly example?: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, unknown>>;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly form?: Readonly<Record<string, unknown>>;
    readonly data?: unknown;
  };
}

export const route = <const R extends RouteShape>(shape: R): R => shape;

type Part<R, K extends string> = R extends { readonly [P in K]: infer S extends TSchema } ? Static<S> : undefined;
export type ParamsOf<R> = Part<R, 'params'>;
export type QueryOf<R> = Part<R, 'query'>;
export type BodyOf<R> = Part<R, 'body'>;
export type FormOf<R> = Part<R, 'form'>;
export type DataOf<R> = Part<R, 'data'>;

type Given<K extends string, V> = V extends undefined ? unknown : { readonly [P in K]: V };
type GivenQuery<V> = V extends undefined ? unknown : { readonly query?: Partial<V> };
/** What a caller hands over: `{params?, query?, body?}`, as far as the operation has them. */
export type InputOf<R> = Given<'params', ParamsOf<R>> & GivenQuery<QueryOf<R>> & Given<'body', BodyOf<R>>;

/** Every business code an operation can answer with: its own and those that come with token, limit and input. */
export function errorsOf(shape: RouteShape): ErrorCode[] {
  const found = new Set<ErrorCode>(shape.errors);
  if (shape.access !== 'public') for (const code of [1004, 1005, 2007] as const) found.add(code);
  if (shape.limit) found.add(429);
  if (shape.query || shape.body || shape.form) found.add(1001);
  found.add(500);
  return [...found].sort((a, b) => a - b);
}
