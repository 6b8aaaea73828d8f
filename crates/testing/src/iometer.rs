//! A configuration of IOMeter.

/// A configuration of IOMeter with two managers, ALPHA and BETA, three workers and five targets on
/// three places, of so many sectors each. With the test type `NORMAL` it makes two runs; the second
/// is that of ALPHA's first worker alone.
#[must_use]
pub fn two_managers(test_type: &str, sectors: u64, places: &[String; 3]) -> String {
    let worker = WORKER.replace("SECTORS", &sectors.to_string());
    let mut text = FILE.replace("TEST_TYPE", test_type).replace("WORKER\n", &worker);
    for (name, place) in ["a", "b", "c"].into_iter().zip(places) {
        let target = format!("'Target\n\t{place}\n'Target type\n\tDISK\n'End target");
        text = text.replace(&format!("TARGET_{name}"), &target);
    }
    text
}

const WORKER: &str = "\
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed \
seed value
\t3,DISABLED,1,DISABLED,0
'Disk maximum size,starting sector,Data pattern
\tSECTORS,0,0
'End default target settings for worker
'Assigned access specs
";

const FILE: &str = "Version 1.1.0 
'TEST SETUP ====================================================================
'Test Description
\tnightly, array A
'Run Time
'\thours      minutes    seconds
\t0          0          20
'Ramp Up Time (s)
\t2
'Record Results
\tALL
'Worker Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Disk Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Queue Depth Cycling
'\tstart      end        step       step type
\t1          4          2          EXPONENTIAL
'Test Type
\tTEST_TYPE
'END test setup
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tOLTP; mixed,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,90,67,100,0,1,8192,0
\t65536,10,0,0,0,2,65536,0
'Access specification name,default assignment
\tBackup,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t1048576,100,100,0,0,1,0,0
'END access specifications
'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,ALPHA
'Manager network address
\t
'Worker
\tWorker 1
WORKER
\tOLTP; mixed
\tBackup
'End assigned access specs
'Target assignments
TARGET_a
TARGET_b
'End target assignments
'End worker
'Worker
\tWorker 2
WORKER
\tOLTP; mixed
'End assigned access specs
'Target assignments
TARGET_a
TARGET_c
'End target assignments
'End worker
'End manager
'Manager ID, manager name
\t2,BETA
'Manager network address
\t10.0.0.2
'Worker
\tWorker 1
WORKER
\tOLTP; mixed
'End assigned access specs
'Target assignments
TARGET_c
'End target assignments
'End worker
'End manager
'END manager list
Version 1.1.0 
";
