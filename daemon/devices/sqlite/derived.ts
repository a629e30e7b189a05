/** Data that SQLite derives from the rows of devices: how it is made, and where it does not agree with them. */
import { searchTexts, tallyDialect } from '../../store/sqlite/migrations.ts';
import { makeTallies, tallyFault } from '../../store/write/tallies.ts';

export const derived = `
DELETE FROM device_count;
INSERT INTO device_count (manufacturer, device_type, status, count)
  SELECT manufacturer, device_type, status, count(*) FROM device GROUP BY 1, 2, 3;
DELETE FROM device_tag;
INSERT INTO device_tag (name, value, device)
  SELECT tag.key, tag.value, device.number FROM device, json_each(device.tags) AS tag WHERE device.tags IS NOT NULL;
DELETE FROM device_mark;
INSERT INTO device_mark (mark, device)
  SELECT 'aaguid:' || (proof ->> '$.proof.aaguid'), number FROM device WHERE proof ->> '$.proof.aaguid' IS NOT NULL;
INSERT INTO device_mark (mark, device)
  SELECT DISTINCT 'advisory:' || advisory.value, device.number
  FROM device, json_each(device.proof, '$.advisories') AS advisory WHERE device.proof IS NOT NULL;
DELETE FROM tally;
${makeTallies(tallyDialect)}
DELETE FROM search_text;
INSERT INTO search_text (kind, key, text) ${searchTexts};
`;

const inRows = `SELECT number AS device, key AS name, value FROM device, json_each(CASE WHEN json_valid(tags) THEN tags END)`;
const inIndex = 'SELECT device, name, value FROM device_tag';
const tagFaults = `SELECT DISTINCT 'device ' || device || ' has other tags than the index of tags' FROM (
  SELECT * FROM (${inRows} EXCEPT ${inIndex}) UNION ALL SELECT * FROM (${inIndex} EXCEPT ${inRows}))`;

const inSearch = 'SELECT kind, key, text FROM search_text';
const searchFaults = `SELECT DISTINCT 'the search has another ' || kind || ' than the rows' FROM (
  SELECT * FROM (SELECT * FROM (${searchTexts}) EXCEPT ${inSearch}) UNION ALL SELECT * FROM (${inSearch} EXCEPT SELECT * FROM (${searchTexts})))`;

export const faults = { device_tag: tagFaults, tally: tallyFault(tallyDialect), search_text: searchFaults };
