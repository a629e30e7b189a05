/** Counts for people have separators; those for programs do not. */
import { expect, test } from 'vitest';
import { answering, json, success } from '../support/http-servers.ts';
import { devmgr } from './program.ts';

const device = { deviceId: 'DEV-1', serialNumber: 'S-1', status: 'ACTIVE' };
const page = { list: [device], pagination: { page: 1, size: 1, total: 5_000, totalPages: 5_000 } };
const byStatus = { INACTIVE: 1, ACTIVE: 1_234_567, LOCKED: 0, DEACTIVATED: 0 };
const statistics = {
  total: 1_234_568,
  byStatus,
  byType: { UKEY: 1_234_568, SIMKEY: 0 },
  byManufacturer: [],
  registrations: { perDay: [], perHour: [] },
  codesExpiring: 12_000,
  unused: 3,
};

test.each([
  ['list', page, 'Page 1 of 5,000 (5,000 devices)', '"total":5000'],
  ['stats', statistics, '1,234,568 devices', '"total":1234568'],
  ['stats', statistics, /ACTIVE +1,234,567\n/, '"ACTIVE":1234567'],
  ['stats', statistics, /30 days +12,000\n/, '"codesExpiring":12000'],
])('%s', async (line, data, words, plain) => {
  const { url } = await answering((_, response) => void response.writeHead(200, json).end(success(data)));
  const options = { env: { DEVMGR_TOKEN: 'token-of-a-test' } };
  const { stdout, stderr } = await devmgr([line, '--server', url], options);
  expect(stdout + stderr).toMatch(words);
  expect((await devmgr([line, '--json', '--server', url], options)).stdout).toContain(plain);
});
