import { ApiError, Code } from '../../src/contract/codes.ts';
import type { Bindings } from '../http/bindings.ts';
import * as present from './present.ts';
import type { TokenService } from './token-service.ts';
import type { UserService } from './user-service.ts';

/** The services of accounts. */
interface AccountServices {
  readonly users: UserService;
  readonly serviceTokens: TokenService;
}

/** Users and service tokens. */
export const accountOperations = (to: AccountServices): Bindings => ({
  createUser: ({ context, body }) => to.users.create(context, body),
  listUsers: ({ query }) => to.users.list(query),
  getOwnUser: async ({ context }) => {
    const me = present.me(context.caller);
    if (!me) throw new ApiError(Code.noPermission);
    return me;
  },
  updateUser: ({ context, params, body }) => to.users.update(context, params.userId, body),
  setPassword: ({ context, params, body }) => to.users.setPassword(context, params.userId, body),
  logoutUser: ({ context, params }) => to.users.logout(context, params.userId),
  createToken: ({ context, body }) => to.serviceTokens.create(context, body),
  listTokens: ({ query }) => to.serviceTokens.list(query),
  adoptToken: ({ context, params }) => to.serviceTokens.adopt(context, params.tokenId),
  revokeToken: ({ context, params }) => to.serviceTokens.revoke(context, params.tokenId),
});
