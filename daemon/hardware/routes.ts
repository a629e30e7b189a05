/** The operations of every daemon, also of a station without a registry: the keys of its machine, and its health. */

import type { FastifyRequest } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { daemonSettings } from '../../src/contract/daemon-settings.ts';
import { connectionEnd } from '../../src/contract/local.ts';
import type { Data } from '../../src/contract/routes.ts';
import { clientOf } from '../base/loopback.ts';
import type { Instance, InstanceProof } from '../home/instance.ts';
import type { Bindings } from '../http/bindings.ts';
import { isFromThisMachine } from '../http/local-request.ts';
import { untilClosed } from '../http/operation.ts';
import { JSON_TYPE, RETRY_AFTER } from '../http/responses.ts';
import { RateLimited, type RequestLimits } from '../requests/limiter.ts';
import type { Readiness } from '../requests/readiness.ts';
import type { KeySource } from './attached-keys.ts';

/** Services of a station. */
interface StationServices {
  readonly keys: KeySource;
  /** Whether keys of this machine may be issued over the network; absent: only by users of the machine. */
  readonly remoteIssuing?: boolean | undefined;
  readonly readiness: Pick<Readiness, 'report'>;
  /** Version of the program. */
  readonly version: string;
  readonly instance: Instance;
  readonly limiter: RequestLimits;
}

const ISSUED_HERE = `keys that are plugged into the machine of the daemon are issued on it: use devmgr there, or the console at its loopback address. Its operator can allow the network: ${daemonSettings.remoteIssuing.variable}=on`;

/** The operations of a station: attached keys and health. The uptime counts from this call. */
export function stationOperations(to: StationServices): Bindings {
  const startedAt = performance.now();
  return {
    listKeys: async () => ({ list: await to.keys.list(), drivers: to.keys.driverStatuses() }),
    proveKey: ({ params, body, reply }) => to.keys.prove(params.keyId, body, untilClosed(reply)),
    issueKey: async ({ params, body, reply }) => {
      if (to.remoteIssuing !== true && !isFromThisMachine(reply.request))
        throw new ApiError(Code.noPermission, ISSUED_HERE);
      return to.keys.issue(params.keyId, body, untilClosed(reply));
    },
    identifyKey: ({ params, body, reply }) => to.keys.identify(params.keyId, body, untilClosed(reply)),
    signReceipt: ({ params, body, reply }) => to.keys.sign(params.keyId, body, untilClosed(reply)),
    getHealth: {
      raw: async ({ query, request, reply }) => {
        const proof = query.nonce === undefined ? {} : { identity: proveIdentity(to, query.nonce, request) };
        const { ready, reason, store } = await to.readiness.report();
        const data: Data<'getHealth'> = {
          status: ready ? 'ok' : 'degraded',
          service: 'devmgr',
          version: to.version,
          ready,
          reason,
          node: request.server.node,
          idempotencyKeys: true,
          store: { state: store.ready ? 'ready' : 'unavailable', detail: store.detail },
          drivers: [...to.keys.driverStatuses()],
          uptimeSeconds: Math.floor((performance.now() - startedAt) / 1000),
          ...proof,
        };
        reply.header('content-type', JSON_TYPE);
        if (reason === null) return JSON.stringify({ code: 200, message: 'success', data });
        // A client that asks who answers, or whether it accepts keys, still needs to know.
        reply.code(503).header('retry-after', String(RETRY_AFTER));
        return JSON.stringify({ code: 500, message: reason, data });
      },
    },
  };
}

/** Needs no token, so that signatures are bounded by the client address. */
function proveIdentity(
  { limiter, instance }: StationServices,
  nonce: string,
  { ip, socket }: FastifyRequest,
): InstanceProof {
  const allowance = limiter.countHere('query', `identity of ${clientOf(ip)}`);
  if (allowance && !allowance.allowed) throw new RateLimited(allowance);
  return instance.prove(nonce, connectionEnd(socket.localAddress, socket.localPort));
}
