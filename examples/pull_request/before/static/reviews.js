const list = document.querySelector("#reviews");

export async function loadReviews(productId) {
  const answer = await fetch(`/products/${productId}/reviews`);
  return answer.json();
}
