import type { FastifyInstance } from 'fastify';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { routes } from '../../src/contract/routes.ts';
import { refuseConfined } from '../requests/context.ts';
import { isFromThisMachine } from './local-request.ts';
import type { LoopDelays } from './loop-watch.ts';
import { bearer, type OperationParts, rawOperation } from './operation.ts';

/** Sources of the metrics. */
interface MetricsParts extends OperationParts {
  /** Whether the settings name a proxy or public names: then a connection from loopback does not show who sends the request. */
  readonly behindProxy: boolean;
  /** Figures read at each scrape: name (snake_case, with unit) → help and value. */
  readonly gauges: () => Promise<Readonly<Record<string, { readonly help: string; readonly value: number }>>>;
}

/** Counts requests by operation and status. The Prometheus text is generated only when it is requested. */
export function metricsPlugin(app: FastifyInstance, parts: MetricsParts): void {
  const counts = new Map<string, Map<number, number>>();
  // Not in onResponse: waiting for the end of each response costs more than everything else here.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const operation = request.routeOptions.config?.operation?.id ?? 'none';
    const statuses = counts.get(operation) ?? new Map<number, number>();
    if (statuses.size === 0) counts.set(operation, statuses);
    statuses.set(reply.statusCode, (statuses.get(reply.statusCode) ?? 0) + 1);
    done();
  });
  rawOperation(app, parts, routes.getMetrics, async ({ request, reply }) => {
    const isLocal = !parts.behindProxy && isFromThisMachine(request);
    const caller = isLocal ? null : await parts.tokens.check(bearer(request), request);
    if (caller?.role === 'LOCAL' || caller?.role === 'HOLDER')
      throw new ApiError(Code.noPermission, `the role ${caller.role} is not allowed to do this`);
    if (caller) refuseConfined(caller);
    const { Counter, Gauge, Registry } = await import('prom-client');
    const registry = new Registry();
    registry.setDefaultLabels({ node: app.node });
    const requests = new Counter({
      name: 'devmgr_requests_total',
      help: 'Requests answered',
      labelNames: ['operation', 'status'],
      registers: [registry],
    });
    for (const [operation, statuses] of counts)
      for (const [status, count] of statuses) requests.inc({ operation, status: String(status) }, count);
    for (const [name, { help, value }] of Object.entries(await parts.gauges()))
      new Gauge({ name, help, registers: [registry] }).set(value);
    reply.header('content-type', registry.contentType);
    return `${await registry.metrics()}\n${delaysText(app.loopWatch.delays, app.node)}`;
  });
}

/** A histogram in the Prometheus format. prom-client writes only histograms of samples that it counted itself. */
function delaysText({ buckets, count, sum }: LoopDelays, node: string): string {
  const name = 'devmgr_event_loop_delay_seconds';
  const lines = buckets.map(([bound, below]) => {
    const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : bound;
    return `${name}_bucket{le="${le}",node="${node}"} ${below}`;
  });
  const head = [`# HELP ${name} Delay of a timer that is due every 20 ms`, `# TYPE ${name} histogram`];
  return [...head, ...lines, `${name}_sum{node="${node}"} ${sum}`, `${name}_count{node="${node}"} ${count}`, ''].join(
    '\n',
  );
}
