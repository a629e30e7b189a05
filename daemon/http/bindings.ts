/** Binds the operations of the contract to what carries them out. */
import type { FastifyInstance } from 'fastify';
import type { DataOf, RouteShape } from '../../src/contract/define.ts';
import type { RouteName } from '../../src/contract/endpoints.ts';
import { type Routes, routes } from '../../src/contract/routes.ts';
import { type FormHandler, type FormParts, type FormRoute, formOperation } from './form-operation.ts';
import { type Call, operation, rawOperation } from './operation.ts';

type OperationHandler<R> = (call: Call<R>) => Promise<DataOf<R>>;

/** The function that carries out an operation. */
type Binding<R> =
  /** Returns `data` of the envelope. */
  | OperationHandler<R>
  /** `message`: that of a successful response. */
  | { readonly handle: OperationHandler<R>; readonly message: (data: DataOf<R>) => string }
  /** Writes the response itself: a download, a document. */
  | { readonly raw: (call: Call<R>) => Promise<unknown> }
  | (R extends FormRoute ? FormHandler<R> : never);

/** Operations by name. */
export type Bindings = { readonly [N in RouteName]?: Binding<Routes[N]> };

/** The message of a batch. */
export const batchMessage = ({ failed }: { readonly failed: number }): string =>
  failed === 0 ? 'success' : 'batch completed with partial failure';

/** Adds the routes of these operations. */
export function bindOperations(app: FastifyInstance, parts: FormParts, bindings: Bindings): void {
  for (const [name, binding] of Object.entries(bindings) as [RouteName, Binding<FormRoute>][]) {
    // Only a form has the binding of a form, which the type of the table checks.
    const shape = routes[name] as RouteShape as FormRoute;
    if (typeof binding === 'function') operation(app, parts, shape, binding);
    else if ('handle' in binding) operation(app, parts, shape, binding.handle, binding.message);
    else if ('raw' in binding) rawOperation(app, parts, shape, binding.raw);
    else formOperation(app, parts, shape, binding);
  }
}
