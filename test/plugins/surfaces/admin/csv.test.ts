import t from 'tap'
import { csvOf } from '../../../../plugins/surfaces/admin/csv.ts'

t.test('no cell is a formula, also where a program cuts it at a semicolon, a tab or a line', async (t) => {
  const cells = ['=1+1', 'a;=1+1', 'a\t@b', 'a\n-1', 'a;b', 'a=b', 'a-b']
  t.equal(csvOf(['one'], [cells, [null, 1.5, -2]]), `one\r\n'=1+1,a;'=1+1,a\t'@b,"a\n'-1",a;b,a=b,a-b\r\n,1.5,-2`)
})
