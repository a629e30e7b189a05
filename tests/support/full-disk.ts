/** A process that fills the disk under a store, makes room again, and writes on stdout what the store did (JSON). */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subjects } from '../../daemon/start/subjects.ts';
import { checkDatabase } from '../../daemon/store/sqlite/check.ts';
import { openSqliteStore } from '../../daemon/store/sqlite/index.ts';
import { addDevice, commit, queryOf } from '../contract/store/fixtures.ts';
import { journalKey } from './sqlite.ts';

const folder = process.argv[2]!;
const store = await openSqliteStore({ subjects, file: join(folder, 'devmgr.db'), journalKey });
const { bavail, bsize } = statfsSync(folder);
const filler = join(folder, 'filler');
writeFileSync(filler, Buffer.alloc(Math.floor((bavail * bsize) / 2)));

let acknowledged = 0;
let refused: unknown = null;
for (let i = 0; refused === null; i++)
  await commit(store, [addDevice(`S${i}`)]).then(
    () => acknowledged++,
    error => (refused = error),
  );
const { name, message } = refused as Error;
const unready = await store.health();
const present = (await store.devices(queryOf({ limit: 1 }))).total;
rmSync(filler);
const ready = await store.health();
const [after] = await commit(store, [addDevice('after')]);
const { problems } = await checkDatabase(subjects, join(folder, 'devmgr.db'), journalKey);
await store.close();
console.log(JSON.stringify({ acknowledged, present, name, message, unready, ready, after, problems }));
