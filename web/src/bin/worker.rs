//! The model worker.

fn main() {
    helt_web::worker::start();
}
