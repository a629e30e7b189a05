import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../src/contract/codes.ts';
import { routes } from '../../../src/contract/routes.ts';
import type { AuthService } from '../../services/auth.ts';
import * as present from '../../services/present.ts';
import type { UserService } from '../../services/users.ts';
import { type OperationParts, operation } from '../operation.ts';

export function userRoutes(
  app: FastifyInstance,
  parts: OperationParts & { readonly auth: AuthService; readonly users: UserService },
): void {
  const { auth, users } = parts;
  operation(app, parts, routes.login, ({ body }) => auth.login(body));
  operation(app, parts, routes.refresh, async ({ context }) => auth.refresh(context.caller));
  operation(app, parts, routes.createUser, ({ context, body }) => users.create(context, body));
  operation(app, parts, routes.listUsers, ({ query }) => users.list(query));
  operation(app, parts, routes.me, async ({ context }) => {
    if (!context.caller.user) throw new ApiError(2007);
    return present.user(context.caller.user);
  });
  operation(app, parts, routes.updateUser, ({ context, params, body }) => users.update(context, params.userId, body));
  operation(app, parts, routes.setPassword, ({ context, params, body }) =>
    users.setPassword(context, params.userId, body),
  );
  operation(app, parts, routes.logoutUser, ({ context, params }) => users.logout(context, params.userId));
}
