import rvenc from '../../../plugins/surfaces/rvenc.ts'
import { keepsContract } from './contract.ts'

keepsContract(rvenc)
