/** Data that PostgreSQL derives from the rows of devices: how it is made, and where it does not agree with them. */
import { hourMs } from '../../../src/contract/durations.ts';
import { countAllUsers } from '../../store/postgres/migrations.ts';
import { searchTexts } from '../../store/postgres/search-texts.ts';
import { tallyDialect } from '../../store/postgres/tallies.ts';
import { makeTallies, tallyFault } from '../../store/write/tallies.ts';

export const derived = [
  'DELETE FROM device_count',
  `INSERT INTO device_count (manufacturer, device_type, status, count)
     SELECT manufacturer, device_type, status, count(*) FROM device GROUP BY 1, 2, 3`,
  'DELETE FROM registration_count',
  `INSERT INTO registration_count (hour, count) SELECT created_at / ${hourMs}, count(*) FROM device GROUP BY 1`,
  'DELETE FROM device_key_count',
  countAllUsers,
  'DELETE FROM tally',
  makeTallies(tallyDialect),
  'DELETE FROM search_text',
  `INSERT INTO search_text (kind, key, text) ${searchTexts}`,
];

export const faults = [
  `SELECT 'the counter of registrations in hour ' || hour || ' is ' || sum(kept) || ', there are ' || sum(found)
   FROM (SELECT hour, count AS kept, 0 AS found FROM registration_count
         UNION ALL SELECT created_at / 3600000, 0, count(*) FROM device GROUP BY 1) AS counts
   GROUP BY hour HAVING sum(kept) <> sum(found)`,
  `SELECT 'the counter of ' || device_type || ' ' || status || ' of ' || manufacturer || ' of user ' || user_key || ' is ' || sum(kept) || ', there are ' || sum(found)
   FROM (SELECT user_key, device_type, status, manufacturer, count AS kept, 0 AS found FROM device_key_count
         UNION ALL SELECT user_key, device_type, status, manufacturer, 0, count(*) FROM device
           WHERE user_key IN (SELECT user_key FROM device_key_count) GROUP BY 1, 2, 3, 4) AS counts
   GROUP BY user_key, device_type, status, manufacturer HAVING sum(kept) <> sum(found)`,
  `SELECT 'the marks of device ' || number || ' differ from its tags and proof' FROM (
     SELECT mark, number, -1 AS by FROM device_mark
     UNION ALL SELECT unnest(marks_of_device(tags, proof)), number, 1 FROM device
       WHERE tags IS NOT NULL OR proof IS NOT NULL) AS marks
   GROUP BY mark, number HAVING sum(by) <> 0`,
  tallyFault(tallyDialect),
  `SELECT DISTINCT 'the search has another ' || kind || ' than the rows' FROM (
     SELECT kind, key, text, -1 AS by FROM search_text UNION ALL SELECT kind, key, text, 1 FROM (${searchTexts}) AS wanted) AS texts
   GROUP BY kind, key, text HAVING sum(by) <> 0`,
];
