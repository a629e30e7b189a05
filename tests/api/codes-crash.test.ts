import { pino } from 'pino';
import { expect, it } from 'vitest';
import { operation } from '../../daemon/http/operation.ts';
import { buildServer } from '../../daemon/http/server.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';
import { routes } from '../../src/contract/routes.ts';
import { validateAnswer } from '../support/openapi.ts';

const secret = 'SQLITE_IOERR at /home/somebody/.local/share/devmgr';

it('500: a crash in a handler reveals nothing to the client; the log has the details under the request id', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: line => void lines.push(line) });
  const parts = {
    limiter: new Limiter(),
    keyed: {} as never,
    tokens: {
      check: async () => {
        throw new Error('no token is asked for');
      },
    } as never,
  };
  const app = await buildServer({ logger, origin: { hosts: null }, trustProxy: [] }, [
    instance =>
      operation(instance, parts, routes.getHealth, async () => {
        throw new Error(secret);
      }),
  ]);
  const response = await app.inject({ method: 'GET', url: routes.getHealth.path, headers: { host: 'localhost' } });
  await app.close();

  expect(response.statusCode).toBe(500);
  expect(response.json()).toMatchObject({ code: 500, data: null });
  expect(validateAnswer('GET', routes.getHealth.path, 500, response.json())).toEqual([]);
  expect(response.body + JSON.stringify(response.headers)).not.toMatch(/SQLITE|somebody|Error:|\.ts/);
  const id = response.headers['x-request-id'];
  expect(lines.some(line => line.includes(secret) && line.includes(String(id)))).toBe(true);
});
