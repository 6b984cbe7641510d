import index from '../../../plugins/surfaces/index.ts'
import { keepsContract } from './contract.ts'

keepsContract(index)
