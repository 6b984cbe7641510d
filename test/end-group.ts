/** Ends a process that leads a group of its own, and whatever it started. */
export const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // All of them ended by themselves.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
