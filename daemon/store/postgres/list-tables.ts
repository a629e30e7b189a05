/** Tables for lists of many devices. Triggers update them, so that daemons of the previous release do so too. */

import { text } from './first-schema.ts';

/** Columns that filters look at, apart from keywords, ids and what follows from these columns. */
const filtered =
  'number, device_type, serial_number, manufacturer, status, user_id, created_at, activated_at, last_used_at, activation_code_expires_at, tags, proof';
const old = (columns: string) => columns.replaceAll(/\w+/g, column => `OLD.${column}`);

/** Entries of the journal for which `device_before` has the changes. */
export const keptEntries = 100_000;

/** Milliseconds before the time of a change: uses that only move a time after that are not in `device_before`. */
export const recentMs = 86_400_000;

const recent = `(extract(epoch FROM now()) * 1000)::int8 - ${recentMs}`;
/** Whether a serial number looks like an id. Few do, and an index has them. */
export const likeId = `lower(serial_number COLLATE "C") LIKE '%dev-%'`;

const lastUse = (row: string) => `coalesce(${row}.last_used_at, ${row}.activated_at)`;
/** Whether an update changes one of the columns. */
export const changed = (columns: readonly string[]) =>
  columns.map(column => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');

const keepBefore = (columns: string) => `FUNCTION keep_device_before() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last int8 := (SELECT event FROM head);
BEGIN
  INSERT INTO device_before (event, ${columns}) VALUES (last, ${old(columns)}) ON CONFLICT DO NOTHING;
  -- Now and then, so that few statements look for what to remove.
  IF random() < 0.001 THEN DELETE FROM device_before WHERE event < last - ${keptEntries}; END IF;
  RETURN NULL;
END $$`;

/** The model of a device never changes. */
export const modelBefore = `
ALTER TABLE device_before ADD COLUMN model ${text};
UPDATE device_before AS b SET model = d.model FROM device AS d WHERE d.number = b.number;
ALTER TABLE device_before ALTER COLUMN model SET NOT NULL;
CREATE OR REPLACE ${keepBefore(`${filtered}, model`)};
`;

const compared = (columns: readonly string[]) => `${changed(columns)}
    OR ${lastUse('OLD')} IS DISTINCT FROM ${lastUse('NEW')} AND least(${lastUse('OLD')}, ${lastUse('NEW')}) < ${recent}`;
const comparedColumns = ['status', 'user_id', 'activation_code_expires_at', 'tags', 'proof'];

/** Filters compare names by their keys. */
export const keysBefore = `
ALTER TABLE device_before ADD COLUMN user_key ${text};
CREATE OR REPLACE ${keepBefore(`${filtered}, model, user_key`)};
DROP TRIGGER device_kept_before ON device;
CREATE TRIGGER device_kept_before AFTER UPDATE ON device
  FOR EACH ROW WHEN (${compared([...comparedColumns, 'user_key'])})
  EXECUTE FUNCTION keep_device_before();
`;

/**
 * `device_mark` has a row for each tag of a device, and for the grade, the AAGUID and each advisory of its proof: a page of the
 * devices that have one is a part of its index.
 *
 * `device_before` has a device as it was before a transaction changed what filters look at. `event` is the end of the journal before
 * that transaction, which the lock of `head` keeps in order.
 */
export const listTables = `
CREATE TABLE device_mark (mark ${text}, number int8);
-- No set of rows: that takes a tenth of a millisecond for each device.
CREATE FUNCTION marks_of_device(tags text, proof text) RETURNS text[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
  stored jsonb := proof::jsonb;
  marks text[] := ARRAY['grade:' || (stored #>> '{proof,grade}'), 'aaguid:' || (stored #>> '{proof,aaguid}')];
  part text;
BEGIN
  FOREACH part IN ARRAY coalesce(string_to_array(tags, E'\\n'), '{}') LOOP
    marks := marks || ('tag:' || part);
  END LOOP;
  IF jsonb_array_length(stored -> 'advisories') > 0 THEN
    FOR part IN SELECT DISTINCT jsonb_array_elements_text(stored -> 'advisories') LOOP
      marks := marks || ('advisory:' || part);
    END LOOP;
  END IF;
  RETURN array_remove(marks, NULL);
END $$;
CREATE FUNCTION mark_device() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  marks text[] := marks_of_device(NEW.tags, NEW.proof);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM device_mark WHERE number = NEW.number AND mark = ANY (marks_of_device(OLD.tags, OLD.proof)) AND mark <> ALL (marks);
  END IF;
  INSERT INTO device_mark SELECT unnest(marks), NEW.number ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER device_marked AFTER INSERT ON device
  FOR EACH ROW WHEN (NEW.tags IS NOT NULL OR NEW.proof IS NOT NULL) EXECUTE FUNCTION mark_device();
CREATE TRIGGER device_marked_again AFTER UPDATE ON device
  FOR EACH ROW WHEN (${changed(['tags', 'proof'])}) EXECUTE FUNCTION mark_device();
INSERT INTO device_mark SELECT unnest(marks_of_device(tags, proof)), number FROM device
  WHERE tags IS NOT NULL OR proof IS NOT NULL;
ALTER TABLE device_mark ADD PRIMARY KEY (mark, number);
CREATE INDEX device_like_id ON device (number) WHERE ${likeId};
-- Without them the planner expects one serial number in 125 to look like an id.
CREATE STATISTICS device_serial ON (lower(serial_number COLLATE "C")) FROM device;

CREATE TABLE device_before (
  event int8,
  number int8,
  device_type ${text} NOT NULL,
  serial_number ${text} NOT NULL,
  manufacturer ${text} NOT NULL,
  status ${text} NOT NULL,
  user_id ${text},
  created_at int8 NOT NULL,
  activated_at int8,
  last_used_at int8,
  activation_code_expires_at int8 NOT NULL,
  tags ${text},
  proof ${text},
  PRIMARY KEY (event, number)
);
CREATE ${keepBefore(filtered)};
CREATE TRIGGER device_kept_before AFTER UPDATE ON device
  FOR EACH ROW WHEN (${compared(comparedColumns)})
  EXECUTE FUNCTION keep_device_before();
ANALYZE device, device_mark;
`;
