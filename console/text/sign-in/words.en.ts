/** The words of signing in, in English. */

/** Every text in English. Other languages have the same entries: the type checker compares them. */
export const en = {
  signIn: {
    title: 'Sign in',
    username: 'User name',
    password: 'Password',
    submit: 'Sign in',
    expired: 'Your session has ended. Sign in again.',
    code: 'This link was used before or is older than 30 seconds. Run devmgr open again, or sign in.',
    wrong: 'User name or password is wrong.',
    withKey: 'Sign in with a security key',
    registered: 'The key is registered. Sign in again.',
    local: 'On the machine of the daemon, `devmgr open` opens this page signed in.',
  },
  stepUp: {
    title: 'Sign in again',
    why: 'This change needs a sign-in of the last ten minutes.',
    wrong: 'The password is wrong.',
    withKey: 'Use a security key',
  },
};

/** The entries that a language has. */
export type SignInWords = typeof en;
