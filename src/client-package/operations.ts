/**
 * The operations of the interface as types. The published package has another file of this name with the same types: it is made from
 * the OpenAPI document (`scripts/lib/client-types.ts`) and needs nothing of the contract.
 */
import type { DataOf, InputOf } from '../contract/define.ts';
import type { RouteName } from '../contract/endpoints.ts';
import type { Routes } from '../contract/routes.ts';

/** Operations with data in an envelope, and no file. */
type Callable = {
  [N in RouteName]: Routes[N] extends { file: unknown } | { websocket: true }
    ? never
    : DataOf<Routes[N]> extends undefined
      ? never
      : N;
}[RouteName];

/** What each operation takes and gives. */
export type Operations = {
  readonly [N in Callable]: { readonly input: InputOf<Routes[N]>; readonly data: NonNullable<DataOf<Routes[N]>> };
};

/** What each operation takes whose response is a file or a document. */
export type Downloads = {
  readonly [N in RouteName as Routes[N] extends { raw: unknown } ? N : never]: InputOf<Routes[N]>;
};

/** A device in full. */
export type Device = Operations['getDevice']['data'];
export type { EventType } from '../contract/event-types.ts';
export type { Notification } from '../contract/events.ts';
