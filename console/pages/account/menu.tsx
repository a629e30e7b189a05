/** What the menu of the person contains. */
import { session } from '../../api/session.ts';
import { signOut } from '../../api/tabs.ts';
import { type ColorTheme, prefer, preferences } from '../../preferences.ts';
import { linkTo } from '../../router.ts';
import { dictionary, type Language, language, languages } from '../../text/text.ts';

const menuWords = dictionary('menu');
const roleWords = dictionary('roles');

const themes: readonly ColorTheme[] = ['system', 'light', 'dark'];

/** Role, security keys, language, colors, and the sign-out. */
export function MenuContent() {
  const words = menuWords.value;
  return (
    <div class="menu">
      <p>{roleWords.value.name[session.value?.user.role ?? 'VIEWER']}</p>
      <a href={linkTo('account')}>{words.keys}</a>
      <label>
        {words.language}
        <select value={language.value} onChange={event => prefer({ language: event.currentTarget.value as Language })}>
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {words.theme}
        <select
          value={preferences.value.theme ?? 'system'}
          onChange={event => prefer({ theme: event.currentTarget.value as ColorTheme })}
        >
          {themes.map(theme => (
            <option key={theme} value={theme}>
              {words[theme]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={signOut}>
        {words.signOut}
      </button>
    </div>
  );
}
