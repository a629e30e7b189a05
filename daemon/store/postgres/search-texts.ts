/** The texts by which a search finds devices. Triggers keep them, so that daemons of the release before do too. */
import { text } from './first-schema.ts';
import { changed } from './list-tables.ts';
import { tagArray } from './tags.ts';

/** The index for parts of the texts, which needs the extension pg_trgm. */
export const searchTextIndex =
  'CREATE INDEX IF NOT EXISTS search_text_part ON search_text USING gin (text gin_trgm_ops)';

/** What `search_text` has, from the rows, as in SQLite. */
export const searchTexts = `
  SELECT 'user' AS kind, user_key AS key, user_key AS text FROM device WHERE user_key IS NOT NULL GROUP BY user_key
  UNION ALL SELECT 'tag', line, search_fold(line) FROM (
    SELECT DISTINCT line FROM device CROSS JOIN unnest(${tagArray}) AS line WHERE tags IS NOT NULL) AS lines
  UNION ALL SELECT 'note', number::text, search_fold(note) FROM device WHERE note IS NOT NULL
  UNION ALL SELECT 'name', number::text, search_fold(name) FROM person WHERE name IS NOT NULL`;

const keep = 'ON CONFLICT (kind, key) DO UPDATE SET text = excluded.text';
const linesOf = (row: string) => tagArray.replace('tags', `${row}.tags`);

/**
 * `search_fold` is a text in NFC and lower case. The locale of the database changes ASCII letters only, so that it needs a collation that
 * knows all letters. The name of the second trigger puts it after that of the marks, in which it looks for other devices with a tag.
 */
export const search = `
DO $$
DECLARE
  letters text := (SELECT collname FROM pg_collation WHERE collname IN ('und-x-icu', 'pg_c_utf8', 'C.utf8')
    ORDER BY position(collname IN 'und-x-icu pg_c_utf8 C.utf8') LIMIT 1);
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION search_fold(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS %L', format('SELECT lower(normalize($1, NFC) COLLATE %I)', coalesce(letters, 'C')));
END $$;
CREATE TABLE IF NOT EXISTS search_text (kind ${text}, key ${text}, text ${text} NOT NULL, PRIMARY KEY (kind, key));
INSERT INTO search_text (kind, key, text) ${searchTexts} ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION search_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.user_key IS NOT NULL THEN
    INSERT INTO search_text (kind, key, text) VALUES ('user', NEW.user_key, NEW.user_key) ON CONFLICT DO NOTHING;
  END IF;
  IF NEW.tags IS NOT NULL THEN
    INSERT INTO search_text (kind, key, text) SELECT 'tag', line, search_fold(line) FROM unnest(${linesOf('NEW')}) AS line
      ON CONFLICT DO NOTHING;
  END IF;
  IF NEW.note IS NOT NULL THEN
    INSERT INTO search_text (kind, key, text) VALUES ('note', NEW.number::text, search_fold(NEW.note)) ${keep};
  END IF;
  IF TG_OP = 'INSERT' THEN RETURN NULL; END IF;
  IF NEW.note IS NULL AND OLD.note IS NOT NULL THEN
    DELETE FROM search_text WHERE kind = 'note' AND key = OLD.number::text;
  END IF;
  IF OLD.user_key <> NEW.user_key OR OLD.user_key IS NOT NULL AND NEW.user_key IS NULL THEN
    DELETE FROM search_text WHERE kind = 'user' AND key = OLD.user_key
      AND NOT EXISTS (SELECT FROM device WHERE user_key = OLD.user_key);
  END IF;
  IF OLD.tags IS DISTINCT FROM NEW.tags AND OLD.tags IS NOT NULL THEN
    DELETE FROM search_text AS s WHERE kind = 'tag' AND key = ANY (${linesOf('OLD')})
      AND NOT EXISTS (SELECT FROM device_mark WHERE mark = 'tag:' || s.key);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER device_searched AFTER INSERT ON device
  FOR EACH ROW WHEN (NEW.user_key IS NOT NULL OR NEW.tags IS NOT NULL OR NEW.note IS NOT NULL) EXECUTE FUNCTION search_device();
CREATE OR REPLACE TRIGGER device_searched_again AFTER UPDATE ON device
  FOR EACH ROW WHEN (${changed(['user_key', 'tags', 'note'])}) EXECUTE FUNCTION search_device();
CREATE OR REPLACE FUNCTION search_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name IS NULL THEN
    DELETE FROM search_text WHERE kind = 'name' AND key = NEW.number::text;
  ELSE
    INSERT INTO search_text (kind, key, text) VALUES ('name', NEW.number::text, search_fold(NEW.name)) ${keep};
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER person_searched AFTER INSERT ON person
  FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION search_person();
CREATE OR REPLACE TRIGGER person_searched_again AFTER UPDATE ON person
  FOR EACH ROW WHEN (${changed(['name'])}) EXECUTE FUNCTION search_person();
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE '${searchTextIndex}';
  END IF;
END $$;
ANALYZE search_text;
`;
