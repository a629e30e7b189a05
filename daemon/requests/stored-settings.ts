import { type DocumentName, type SettingsRecord, setSettings, settingsIn } from '../store/document.ts';
import type { Entry } from '../store/journal.ts';
import { type Context, commitLast, retrying, Service, type ServiceParts } from './context.ts';

/** Dependencies of settings, and their description. */
interface StoredSettingsParts<C> extends ServiceParts {
  readonly name: DocumentName;
  /** The type of the journal entry of a change. */
  readonly type: Entry['type'];
  /** Settings of a new registry. */
  readonly none: C;
}

/** Settings that are shown and replaced as a whole. */
export class StoredSettings<C extends object> extends Service<StoredSettingsParts<C>> {
  async read(): Promise<SettingsRecord<C>> {
    const { name, none } = this.parts;
    return settingsIn(await this.store.document(name), none);
  }

  async show(): Promise<C> {
    return (await this.read()).config;
  }

  set(context: Context, config: C): Promise<C> {
    return retrying(async () => {
      const changes = [setSettings(this.parts, await this.read(), config)];
      return commitLast(this.store, context, { at: this.now(), changes }, () => config);
    });
  }
}
