/** The tallies of devices, which triggers keep, so that daemons of the release before do too. */
import { countedTagList, daysOf, makeTallies, type TallyDialect } from '../write/tallies.ts';
import { text } from './first-schema.ts';
import { tagArray } from './tags.ts';

const tagsOf = (
  devices: string,
) => `SELECT split_part(line, ':', 1) AS name, substr(line, strpos(line, ':') + 1) AS value, status
  FROM ${devices}, unnest(${tagArray}) AS line WHERE tags IS NOT NULL AND split_part(line, ':', 1) IN (${countedTagList})`;
const advisoriesOf = (devices: string) => `SELECT DISTINCT advisory AS value, status, number
  FROM ${devices}, jsonb_array_elements_text(proof::jsonb -> 'advisories') AS advisory WHERE proof IS NOT NULL`;

/** How PostgreSQL writes what tallies are made from. */
export const tallyDialect: TallyDialect = {
  before: `detail::jsonb ->> 'before'`,
  lineBreak: `E'\\n'`,
  tags: tagsOf('device'),
  advisories: advisoriesOf('device'),
};

const partsOf = (devices: string, by: 1 | -1) => `
  SELECT 'model' AS subject, manufacturer || E'\\n' || model AS value, status, ${by} AS by FROM ${devices}
  UNION ALL SELECT name, value, status, ${by} FROM (${tagsOf(devices)}) AS tags
  UNION ALL SELECT 'advisory', value, status, ${by} FROM (${advisoriesOf(devices)}) AS advisories`;
const add = (parts: string) => `INSERT INTO tally AS t (subject, value, status, count)
  SELECT subject, value, status, sum(by) FROM (${parts}) AS parts GROUP BY 1, 2, 3 HAVING sum(by) <> 0
  ON CONFLICT (subject, value, status) DO UPDATE SET count = t.count + excluded.count;`;

/** `EXCEPT`, because a join of the two has no estimates: it compares each device with each other one. */
export const tallyDevices = `
CREATE OR REPLACE FUNCTION tally_devices() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${add(partsOf('after', 1))}
  ELSIF EXISTS (SELECT number, status, tags, proof FROM after EXCEPT SELECT number, status, tags, proof FROM before) THEN
    ${add(`${partsOf('before', -1)} UNION ALL ${partsOf('after', 1)}`)}
  END IF;
  RETURN NULL;
END $$;
`;

/** Tallies as in the step of SQLite. */
export const tallies = `
CREATE TABLE tally (
  subject ${text},
  value ${text},
  status ${text},
  count int8 NOT NULL,
  PRIMARY KEY (subject, value, status)
) WITH (fillfactor = 50);
${makeTallies(tallyDialect)}
${tallyDevices}
CREATE TRIGGER device_tallied AFTER INSERT ON device REFERENCING NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION tally_devices();
CREATE TRIGGER device_tallied_again AFTER UPDATE ON device REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION tally_devices();
CREATE FUNCTION tally_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tally AS t (subject, value, status, count) ${daysOf('added', tallyDialect)}
    ON CONFLICT (subject, value, status) DO UPDATE SET count = t.count + excluded.count;
  RETURN NULL;
END $$;
CREATE TRIGGER event_tallied AFTER INSERT ON event REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tally_entries();
`;
