/** Proofs and trust in PostgreSQL that no entry of the journal explains: a check finds them as it does in SQLite. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as devices from '../../daemon/devices/decisions.ts';
import { subjects } from '../../daemon/start/subjects.ts';
import { replace } from '../../daemon/store/document.ts';
import { databaseMaintenance } from '../../daemon/store/postgres/maintenance.ts';
import { needsPostgres, openPostgres, PostgresServer } from '../support/postgres.ts';
import { journalKey } from '../support/sqlite.ts';
import { addDevice, commit } from './store/fixtures.ts';
import { answerOf } from './store/proof-rules.ts';

needsPostgres('a check of a registry in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  it('reports each proof, answer and document that was changed without a journal entry', async () => {
    const { store, database, query, cleanup } = await openPostgres(server);
    const serials = ['S1', 'S2', 'S3', 'S4', 'S5', 'S6'];
    await commit(
      store,
      serials.map(serial => addDevice(serial)),
    );
    for (const [index, serial] of serials.slice(0, 5).entries()) {
      const answer = answerOf(`P${index + 1}`, serial);
      const entry = { type: 'DEVICE_PROVED' } as const;
      const { change } = devices.prove((await store.device(index + 1))!, answer.proof, entry);
      await commit(store, [{ kind: 'proof.add', proof: answer, isRegistered: true, entry: null }, change]);
    }
    for (const name of ['trust', 'metadata'] as const)
      await commit(store, [replace({ name, version: 0 }, '[]', { type: 'TRUST_IMPORTED' })]);
    const maintenance = databaseMaintenance({
      subjects,
      url: server.url(database),
      env: {},
      journalKeys: async () => [journalKey],
    });
    expect((await maintenance.check()).problems).toEqual([]);

    await query(`
      UPDATE device SET proof = replace(proof, '"model"', '"unit"') WHERE number = 1;
      UPDATE device SET proof = NULL WHERE number = 2;
      UPDATE proof SET claims = '{}' WHERE proof_id = 'P3';
      UPDATE proof SET challenge = 'AAAA' WHERE proof_id = 'P4';
      DELETE FROM proof WHERE proof_id = 'P5';
      UPDATE device SET proof = (SELECT proof FROM device WHERE number = 3) WHERE number = 6;
      UPDATE document SET value = '[1]' WHERE name = 'trust';
      DELETE FROM document WHERE name = 'metadata';
      INSERT INTO document (name, version, value) VALUES ('proof-policy', 1, '{}')`);
    const { problems, unproven } = await maintenance.check();
    for (const problem of [
      'the proof of DEV-1 was changed',
      'the proof of DEV-2 was changed',
      'the evidence of DEV-3 was changed',
      'the evidence of DEV-4 was changed',
      'the evidence of DEV-5 was removed',
      'the proof of DEV-6',
      'the document trust was changed',
      'the document metadata was removed',
      'the document proof-policy was added',
    ])
      expect(unproven.join('\n')).toContain(`journal: ${problem}`);
    expect(problems).toEqual(unproven);
    await cleanup();
  });
});
