import ehbp from '../../../plugins/surfaces/ehbp.ts'
import { keepsContract } from './contract.ts'

keepsContract(ehbp, ['GET /.well-known/hpke-keys'])
